import CPlatform
import SystemPackage

#if canImport(Glibc)
  import Glibc
#endif

extension StagingFolder {
  /// Adds an unchanged file of another artifact to this one. Its digest comes from the record of
  /// that artifact and is not computed.
  ///
  /// - Parameters:
  ///   - file: the regular file that `entry` describes; a link is refused.
  ///   - ways: tried in this order until one succeeds.
  /// - Returns: the method used.
  /// - Throws: `FileError` if the file's size differs from the record, or no method succeeds.
  ///
  /// Cost of `clone` and `link`: a few system calls; no data is read.
  public func share(
    _ file: FilePath, _ entry: OutputEntry, as name: String, by ways: [FileSharing]
  ) throws(FileError) -> FileSharing {
    guard let last = file.lastComponent?.string else {
      throw FileError(kind: .other, path: file, operation: "share", reason: "is not a file")
    }
    return try share(
      last, in: try HeldFolder.following(file.removingLastComponent()), entry, as: name, by: ways)
  }

  /// Shares a file of an open folder, without resolving its path. For thousands of files.
  public func share(
    _ file: String, in origin: HeldFolder, _ entry: OutputEntry, as name: String,
    by ways: [FileSharing]
  ) throws(FileError) -> FileSharing {
    let name = try claim(name)
    let (folder, last) = try place(for: name)
    guard let source = try origin.openFile(file) else {
      throw FileError(.noSuchFileOrDirectory, path: origin.path.appending(file), operation: "share")
    }
    defer { try? source.close() }
    try Self.check(source, origin.path.appending(file), entry)
    let way = try folder.share(file, in: origin, source, as: last, by: ways) {
      () throws(FileError) in try checkSpace()
    }
    record(name, bytes: entry.bytes, digest: entry.sha256)
    return way
  }

  private static func check(
    _ file: FileDescriptor, _ path: FilePath, _ entry: OutputEntry
  ) throws(FileError) {
    let found: FileStatus
    do throws(Errno) {
      found = try FileStatus(file)
    } catch {
      throw FileError(error, path: path, operation: "look at")
    }
    guard found.bytes == entry.bytes else {
      throw FileError(
        kind: .changedWhileReading, path: path, operation: "share",
        reason: "has \(found.bytes) bytes, its artifact says \(entry.bytes)",
        remedy: "run the stage that made it again")
    }
  }
}

extension HeldFolder {
  /// Puts the content of the regular file `file` under a name that does not exist in another folder: as a clone, else
  /// as a second name of the file, else as a copy. What is in it is not flushed.
  public func share(_ file: String, to folder: HeldFolder, as name: String) throws(FileError) {
    guard let source = try openFile(file) else {
      throw FileError(.noSuchFileOrDirectory, path: path.appending(file), operation: "share")
    }
    defer { try? source.close() }
    _ = try folder.share(file, in: self, source, as: name, by: FileSharing.allCases)
  }

  /// Adds the file that is open as `source` and is named `file` in `origin`, by the first of the ways that succeeds.
  fileprivate func share(
    _ file: String, in origin: HeldFolder, _ source: FileDescriptor, as name: String,
    by ways: [FileSharing], beforeCopy: () throws(FileError) -> Void = {}
  ) throws(FileError) -> FileSharing {
    var refusal: FileError?
    for way in ways {
      do throws(FileError) {
        switch way {
        case .clone: try clone(source, as: name)
        case .link: try link(file, from: origin, source, as: name)
        case .copy:
          try beforeCopy()
          try copy(source, as: name)
        }
        return way
      } catch {
        // A full disk affects all methods.
        if error.kind == .noSpace || error.kind == .readOnly { throw error }
        refusal = error
      }
    }
    throw refusal
      ?? FileError(
        kind: .other, path: FilePath(file), operation: "share", reason: "no way was given")
  }

  /// Creates a file that shares the blocks of `source`. Removes it after an error.
  func clone(_ source: FileDescriptor, as name: String) throws(FileError) {
    let file = try create(name)
    let code = scanmill_clone_file(source.rawValue, file.rawValue)
    try? file.close()
    guard code == 0 else {
      unlinkat(descriptor, name, 0)
      throw FileError(Errno(rawValue: code), path: path.appending(name), operation: "clone")
    }
  }

  /// Creates a second name of the file that is open as `source` and is named `file` in `origin`.
  func link(
    _ file: String, from origin: HeldFolder, _ source: FileDescriptor, as name: String
  ) throws(FileError) {
    try fault(.create, name, "link")
    guard linkat(origin.descriptor, file, descriptor, name, 0) == 0 else {
      throw failure(errno, name, "link")
    }
    // The linked file must be the one that was checked; it may have been replaced in between.
    guard let opened = try? FileStatus(source), let linked = status(of: name),
      opened.id == linked.id
    else {
      unlinkat(descriptor, name, 0)
      throw FileError(
        kind: .changedWhileReading, path: origin.path.appending(file), operation: "link",
        reason: "was replaced at the same moment", remedy: "run the same command again")
    }
  }

  /// Copies the bytes, in the kernel if possible. Removes the new file after an error.
  func copy(_ source: FileDescriptor, as name: String) throws(FileError) {
    let file = try create(name)
    do {
      do {
        try fault(.write, name, "write")
        let code = scanmill_copy_file(source.rawValue, file.rawValue)
        if code == EOPNOTSUPP { try plainCopy(source, to: file) }
        if code != 0, code != EOPNOTSUPP { throw Errno(rawValue: code) }
      } catch {
        try? file.close()
        throw error
      }
      try file.close()
    } catch {
      unlinkat(descriptor, name, 0)
      throw (error as? FileError)
        ?? FileError(error as? Errno ?? .ioError, path: path.appending(name), operation: "copy")
    }
  }

  private func plainCopy(_ source: FileDescriptor, to file: FileDescriptor) throws {
    var piece = [UInt8](repeating: 0, count: 1 << 18)
    var offset: Int64 = 0
    while true {
      let count = try piece.withUnsafeMutableBytes {
        try source.read(fromAbsoluteOffset: offset, into: $0)
      }
      if count == 0 { return }
      offset += Int64(count)
      _ = try piece.withUnsafeBytes { try file.writeAll($0.prefix(count)) }
    }
  }
}
