import CPlatform
import Glibc
import Synchronization
import SystemPackage

/// A file of an artifact: its path in the folder, size and digest.
public struct OutputEntry: Hashable, Sendable, Codable {
  /// Relative to the artifact's folder, with `/` as separator.
  public var path: String
  public var bytes: Int64
  public var sha256: Digest

  public init(path: String, bytes: Int64, sha256: Digest) {
    self.path = path
    self.bytes = bytes
    self.sha256 = sha256
  }
}

/// The folder into which a stage writes before publication, and the list of its files.
///
/// It is held by descriptor: a folder that a program puts in its place is neither written to nor
/// published. Thread-safe; each file is written and digested by one thread.
public final class StagingFolder: Sendable {
  public let path: FilePath
  /// The folder itself, its parent, and its name there.
  public let folder: HeldFolder
  public let parent: HeldFolder
  public let name: String
  private let contents = Mutex(Contents())

  private struct Contents {
    var entries: [OutputEntry] = []
    /// Names that are in use, whether finished or not.
    var names: Set<String> = []
    var bytes: Int64 = 0
    /// Value of `bytes` at the last check of free space.
    var checkedBytes: Int64 = 0
  }

  /// Free space is checked each time this many bytes have been written.
  private static let bytesBetweenChecks: Int64 = 32 << 20

  /// The only name that a stage may not use: the engine's own record, which is written last.
  static let reservedName = "artifact.json"

  /// Creates an empty folder `name` in `parent`. Removes what was there.
  public init(in parent: HeldFolder, name: String) throws(FileError) {
    try parent.remove(name)
    guard let folder = try parent.makeNewFolder(name) else {
      throw FileError(
        kind: .temporary, path: parent.path.appending(name), operation: "make folder",
        reason: "somebody else made it at the same moment")
    }
    self.folder = folder
    self.parent = parent
    self.name = name
    path = folder.path
  }

  /// Makes the folder at a path, whose links are followed.
  public convenience init(at path: FilePath) throws(FileError) {
    try self.init(
      in: try HeldFolder.making(following: path.removingLastComponent()),
      name: path.lastComponent?.string ?? "")
  }

  /// Writes a whole file. `name` is relative, without `.` and `..`, and unused; its folders are
  /// created.
  public func write(_ bytes: [UInt8], as name: String) throws(FileError) {
    let name = try claim(name)
    try checkSpace()
    let (folder, last) = try place(for: name)
    try folder.write(bytes, as: last)
    record(name, bytes: Int64(bytes.count), digest: Digest(of: bytes))
  }

  /// Creates a file that is written in pieces.
  public func create(_ name: String) throws(FileError) -> StagedFile {
    let name = try claim(name)
    let (file, path) = try open(name)
    return StagedFile(file, name: name, path: path, folder: self)
  }

  /// Creates a file that the caller writes directly. It becomes part of the artifact when it is
  /// adopted after closing.
  public func open(_ name: String) throws(FileError) -> (FileDescriptor, path: FilePath) {
    try checkSpace()
    let (folder, last) = try place(for: name)
    return (try folder.create(last), folder.path.appending(last))
  }

  /// All files of the artifact so far, sorted by path.
  public var outputs: [OutputEntry] {
    contents.withLock { $0.entries }.sorted { $0.path < $1.path }
  }

  /// Total size of these files.
  public var bytesWritten: Int64 { contents.withLock { $0.bytes } }

  /// Throws before the disk is completely full, so that publication, the journal and other programs
  /// still have space.
  func checkSpace() throws(FileError) {
    let isDue = contents.withLock { contents in
      guard contents.bytes - contents.checkedBytes >= Self.bytesBetweenChecks else { return false }
      contents.checkedBytes = contents.bytes
      return true
    }
    if isDue { try FileSystem.checkSpace(for: 0, at: path) }
  }

  func isListed(_ name: String) -> Bool { contents.withLock { $0.names.contains(name) } }

  /// Adds an existing file to the list.
  func record(_ name: String, bytes: Int64, digest: Digest) {
    contents.withLock {
      $0.entries.append(OutputEntry(path: name, bytes: bytes, sha256: digest))
      $0.bytes += bytes
    }
  }

  /// The normalized form of `name`, which is then in use. Throws if the name is invalid or in use.
  func claim(_ name: String) throws(FileError) -> String {
    func refused(_ reason: String) -> FileError {
      FileError(kind: .unpublishable, path: FilePath(name), operation: "write", reason: reason)
    }
    let relative = FilePath(name)
    guard relative.isRelative, !relative.components.isEmpty,
      relative.components.allSatisfy({ $0.kind == .regular })
    else { throw refused("'\(name)' leads out of the artifact") }
    guard relative.string != Self.reservedName else { throw refused("is written by the engine") }
    guard contents.withLock({ $0.names.insert(relative.string).inserted }) else {
      throw refused("is written twice")
    }
    return relative.string
  }

  /// The folder of `name`, created if it does not exist, and the last component.
  func place(for name: String) throws(FileError) -> (HeldFolder, String) {
    let components = FilePath(name).components.map(\.string)
    var folder = folder
    for component in components.dropLast() { folder = try folder.makeFolder(component) }
    return (folder, components.last ?? "")
  }
}

extension [OutputEntry] {
  /// One digest over names, sizes and contents, which dependents compare.
  public var digest: Digest {
    let hasher = Digest.Hasher()
    for entry in sorted(by: { $0.path < $1.path }) {
      hasher.update([UInt8]("\(entry.path)\0\(entry.bytes)\0\(entry.sha256)\n".utf8))
    }
    return hasher.finish()
  }
}

/// Checks the files in a staging folder, whichever program wrote them.
extension StagingFolder {
  /// Digests a file that an external program wrote into the folder, and adds it to the artifact.
  /// Symbolic links are refused, in its path too, because an artifact contains its own bytes.
  public func adopt(_ name: String) throws(FileError) {
    let name = try claim(name)
    var (folder, path) = (folder, path)
    let components = FilePath(name).components.map(\.string)
    for component in components.dropLast() {
      path.append(component)
      guard let inner = try Self.own({ () throws(FileError) in try folder.folder(component) })
      else {
        throw FileError(.noSuchFileOrDirectory, path: path, operation: "publish")
      }
      folder = inner
    }
    try adopt(components.last ?? "", in: folder, as: name)
  }

  /// Adds every file in the folder that is not part of the artifact yet.
  public func adoptAll() throws(FileError) {
    try checkInPlace()
    try walk(folder, "") { (folder, name, entry, relative) throws(FileError) in
      guard !self.isListed(relative) else { return }
      _ = try self.claim(relative)
      try self.adopt(name, in: folder, as: relative)
    }
  }

  private func adopt(
    _ name: String, in folder: HeldFolder, as relative: String
  ) throws(FileError) {
    let path = folder.path.appending(name)
    guard let file = try Self.own({ () throws(FileError) in try folder.openFile(name) }) else {
      throw FileError(.noSuchFileOrDirectory, path: path, operation: "publish")
    }
    do {
      try file.closeAfter {
        let before = try FileIdentity(file, path: path)
        let digest = try Digest(reading: file)
        guard try FileIdentity(file, path: path) == before else {
          throw Self.problem(path, "was still being written after the program had ended")
        }
        record(relative, bytes: before.bytes, digest: digest)
      }
    } catch {
      throw FileError(error, path: path, operation: "read")
    }
  }

  /// Throws if the folder is no longer at its original name. A folder that a program put in its
  /// place is neither written to nor published.
  public func checkInPlace() throws(FileError) {
    guard try parent.holds(folder, as: name) else {
      throw Self.problem(
        path, "was moved away or replaced while the stage ran",
        remedy: "a program must leave the folder that it is given where it is")
    }
  }

  /// Compares the folder with `outputs`: all of them must exist with their sizes, and nothing else
  /// except the record. Cost: inspects every file.
  public func check(_ outputs: [OutputEntry]) throws(FileError) {
    try checkInPlace()
    var missing = Dictionary(firstOf: outputs.map { ($0.path, $0.bytes) })
    try walk(folder, "") { (folder, name, entry, relative) throws(FileError) in
      // NFS keeps a removed file that is still open under such a name, and removes it later.
      if relative == Self.reservedName || name.hasPrefix(".nfs") { return }
      guard let bytes = missing.removeValue(forKey: relative) else {
        throw Self.problem(folder.path.appending(name), "is not among the files of the stage")
      }
      guard entry.bytes == bytes else {
        throw Self.problem(
          folder.path.appending(name), "has \(entry.bytes) bytes, \(bytes) were written")
      }
    }
    guard let first = missing.keys.min() else { return }
    throw FileError(
      kind: .temporary, path: path.appending(FilePath(first).components), operation: "publish",
      reason: "no longer exists (missing files in total: \(missing.count))",
      remedy: "something else removes files of this output: check that its file system shares locks"
    )
  }

  private func walk(
    _ folder: HeldFolder, _ prefix: String,
    _ body: (HeldFolder, String, FileStatus, String) throws(FileError) -> Void
  ) throws(FileError) {
    for name in try folder.rawNames().sorted(by: { $0.text < $1.text }) {
      let path = folder.path.appending(name.text)
      guard name.isText else { throw Self.problem(path, "has a name that is not UTF-8") }
      guard let entry = try folder.entry(name) else { continue }
      switch entry.kind {
      case .file: try body(folder, name.text, entry, prefix + name.text)
      case .folder:
        guard
          let inner = try Self.own({ () throws(FileError) in try folder.folder(name.text) })
        else { continue }
        try walk(inner, prefix + name.text + "/", body)
      case .link: throw Self.problem(path, "is a symbolic link", remedy: "write the file itself")
      case .other: throw Self.problem(path, entry.phrase)
      }
    }
  }

  /// Converts errors about foreign files to errors about the program, because it wrote everything
  /// in its folder.
  private static func own<Value>(
    _ body: () throws(FileError) -> Value
  ) throws(FileError) -> Value {
    do throws(FileError) {
      return try body()
    } catch {
      guard error.kind == .notOurs else { throw error }
      let reason = error.reason.split(separator: ";").first.map(String.init) ?? error.reason
      throw problem(error.path, reason, remedy: "write the file itself")
    }
  }

  private static func problem(
    _ path: FilePath, _ reason: String, remedy: String? = nil
  ) -> FileError {
    FileError(
      kind: .unpublishable, path: path, operation: "publish", reason: reason, remedy: remedy)
  }

  /// Writes the elements of an array in memory order, which is little-endian.
  public func write<Element: BitwiseCopyable>(
    elements: [Element], as name: String
  ) throws(FileError) {
    let file = try create(name)
    do {
      try elements.withUnsafeBytes { try file.append(raw: $0) }
    } catch {
      throw (error as? FileError)
        ?? FileError(kind: .other, path: path, operation: "write", reason: "\(error)")
    }
    try file.finish()
  }

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
      try file.closeAfter {
        try fault(.write, name, "write")
        try file.append(.max, of: source)
      }
    } catch {
      unlinkat(descriptor, name, 0)
      throw FileError(error, path: path.appending(name), operation: "copy")
    }
  }
}

extension FileDescriptor {
  /// Writes the first `bytes` bytes of `source` (`max`: all) at the offset of this file. No byte passes through
  /// this process. `ENODATA`: `source` has fewer.
  func append(_ bytes: Int64, of source: FileDescriptor) throws(Errno) {
    let code = scanmill_copy_file(source.rawValue, rawValue, bytes)
    if code != 0 { throw Errno(rawValue: code) }
  }
}
