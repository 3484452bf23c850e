import CPlatform
import SystemPackage

#if canImport(Glibc)
  import Glibc
#endif

extension StagingFolder {
  /// Puts a file of another artifact into this one, unchanged. Its digest is taken from the record that it
  /// comes from, not computed.
  ///
  /// - Parameters:
  ///   - file: a regular file that `entry` describes; a link is refused.
  ///   - ways: tried in this order until the file system allows one.
  /// - Returns: the way it was done.
  /// - Throws: `FileError` when the file has not the recorded size any more, or no way is open.
  /// Cost of `clone` and `link`: a few system calls; no byte is read.
  public func share(
    _ file: FilePath, _ entry: OutputEntry, as name: String, by ways: [FileSharing]
  ) throws(FileError) -> FileSharing {
    guard let last = file.lastComponent?.string else {
      throw FileError(kind: .other, path: file, operation: "share", reason: "is not a file")
    }
    return try share(
      last, in: try HeldFolder.following(file.removingLastComponent()), entry, as: name, by: ways)
  }

  /// The same for a file of a folder that is held open: thousands of files without walking its path.
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
    var refusal: FileError?
    for way in ways {
      do throws(FileError) {
        switch way {
        case .clone: try folder.clone(source, as: last)
        case .link: try folder.link(file, from: origin, source, as: last)
        case .copy:
          try checkSpace()
          try folder.copy(source, as: last)
        }
        record(name, bytes: entry.bytes, digest: entry.sha256)
        return way
      } catch {
        // A full disk is one for every way.
        if error.kind == .noSpace || error.kind == .readOnly { throw error }
        refusal = error
      }
    }
    throw refusal
      ?? FileError(kind: .other, path: file.path, operation: "share", reason: "no way was given")
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

extension String {
  fileprivate var path: FilePath { FilePath(self) }
}

extension HeldFolder {
  /// A new file with the blocks of `source`. After a failure nothing is left.
  func clone(_ source: FileDescriptor, as name: String) throws(FileError) {
    let file = try create(name)
    let code = scanmill_clone_file(source.rawValue, file.rawValue)
    try? file.close()
    guard code == 0 else {
      unlinkat(descriptor, name, 0)
      throw FileError(Errno(rawValue: code), path: path.appending(name), operation: "clone")
    }
  }

  /// A second name of the file that `source` has open and that `origin` has as `file`.
  func link(
    _ file: String, from origin: HeldFolder, _ source: FileDescriptor, as name: String
  ) throws(FileError) {
    try fault(.create, name, "link")
    guard linkat(origin.descriptor, file, descriptor, name, 0) == 0 else {
      throw failure(errno, name, "link")
    }
    // What was linked is what was looked at, whoever has been at work in between.
    guard let opened = try? FileStatus(source), let linked = status(of: name),
      opened.id == linked.id
    else {
      unlinkat(descriptor, name, 0)
      throw FileError(
        kind: .changedWhileReading, path: origin.path.appending(file), operation: "link",
        reason: "was replaced at the same moment", remedy: "run the same command again")
    }
  }

  /// A copy of the bytes, in the kernel where it can. After a failure nothing is left.
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
