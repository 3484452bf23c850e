import CPlatform
import SystemPackage

#if canImport(Glibc)
  import Glibc
#endif

/// A folder held by descriptor, for everything that writes, renames or removes in an output.
///
/// Whatever happens to the path meanwhile, steps act in the very folder that was opened, on a single name
/// in it, and no link is followed: a link, file or device in the place of a folder is refused
/// (`FileError.Kind.notOurs`). Paths are kept for messages and for other programs.
public final class HeldFolder: Sendable {
  public let path: FilePath
  let descriptor: Int32
  /// What it was when it was opened.
  let identity: FolderEntry

  private init(_ descriptor: Int32, _ path: FilePath, _ identity: FolderEntry) {
    self.descriptor = descriptor
    self.path = path
    self.identity = identity
  }

  deinit { close(descriptor) }

  private static let openFlags = O_RDONLY | O_DIRECTORY | O_CLOEXEC

  /// Holds `descriptor`, or closes it and throws.
  private static func hold(_ descriptor: Int32, _ path: FilePath) throws(FileError) -> HeldFolder {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else {
      let code = errno
      close(descriptor)
      throw FileError(Errno(rawValue: code), path: path, operation: "look at")
    }
    return HeldFolder(descriptor, path, FolderEntry(status))
  }

  /// The folder at a path that the user named: links on the way and at its end are followed, as far as
  /// `EnclosedPaths` allows.
  public static func following(_ path: FilePath) throws(FileError) -> HeldFolder {
    let opened = EnclosedPaths.open(path.isEmpty ? FilePath(".") : path, openFlags)
    guard opened >= 0 else {
      throw FileError(Errno(rawValue: errno), path: path, operation: "open")
    }
    return try hold(opened, path)
  }

  /// The same; made with all above it where it is absent.
  public static func making(following path: FilePath) throws(FileError) -> HeldFolder {
    if let fault = StorageFaults.fault(.makeFolder, path), !FileSystem.exists(path) {
      throw FileError(fault, path: path, operation: "make folder")
    }
    try FileSystem.makeFolder(path)
    return try following(path)
  }

  // MARK: Folders in it

  /// The folder `name`; `nil` when there is nothing. A link, a file or a device is refused.
  public func folder(_ name: String) throws(FileError) -> HeldFolder? {
    try check(name)
    return try folder(RawName(name))
  }

  func folder(_ name: RawName) throws(FileError) -> HeldFolder? {
    let opened = openat(descriptor, name.bytes, Self.openFlags | O_NOFOLLOW)
    guard opened >= 0 else {
      let code = errno
      if code == ENOENT { return nil }
      if code == ENOTDIR || code == ELOOP, let found = try entry(name) {
        throw refusal(name.text, found, operation: "open")
      }
      throw failure(code, name.text, "open")
    }
    return try Self.hold(opened, path.appending(name: name.text))
  }

  /// The folder `name`, made if there is nothing.
  public func makeFolder(_ name: String) throws(FileError) -> HeldFolder {
    // Twice: it may go between two steps.
    for _ in 0..<3 {
      if let present = try folder(name) { return present }
      try make(name, mayExist: true)
    }
    guard let made = try folder(name) else { throw failure(ENOENT, name, "make folder") }
    return made
  }

  /// A folder that nobody else made: `nil` when the name is taken.
  public func makeNewFolder(_ name: String) throws(FileError) -> HeldFolder? {
    try check(name)
    guard try make(name, mayExist: true) else { return nil }
    guard let made = try folder(name) else { throw failure(ENOENT, name, "make folder") }
    return made
  }

  /// Whether it made it.
  @discardableResult
  private func make(_ name: String, mayExist: Bool) throws(FileError) -> Bool {
    try fault(.makeFolder, name, "make folder")
    if mkdirat(descriptor, name, 0o777) == 0 { return true }
    let code = errno
    if code == EEXIST, mayExist { return false }
    throw failure(code, name, "make folder")
  }

  // MARK: Looking

  /// What `name` is by itself; `nil` when there is nothing.
  public func entry(_ name: String) throws(FileError) -> FolderEntry? {
    try check(name)
    return try entry(RawName(name))
  }

  func entry(_ name: RawName) throws(FileError) -> FolderEntry? {
    var status = stat()
    guard fstatat(descriptor, name.bytes, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
      if errno == ENOENT { return nil }
      throw failure(errno, name.text, "look at")
    }
    return FolderEntry(status)
  }

  /// All names but `.` and `..`, sorted.
  public func names() throws(FileError) -> [String] { try rawNames().map(\.text).sorted() }

  func rawNames() throws(FileError) -> [RawName] {
    let own = openat(descriptor, ".", Self.openFlags)
    guard own >= 0, let stream = fdopendir(own) else {
      let code = errno
      if own >= 0 { close(own) }
      throw FileError(Errno(rawValue: code), path: path, operation: "list")
    }
    defer { closedir(stream) }
    var names: [RawName] = []
    errno = 0
    while let entry = readdir(stream) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { RawName(copying: $0) }
      }
      if name != RawName("."), name != RawName("..") { names.append(name) }
      errno = 0
    }
    // The end, or a device that did not answer in the middle.
    guard errno == 0 else {
      throw FileError(Errno(rawValue: errno), path: path, operation: "list")
    }
    return names
  }

  /// Whether `name` is the very folder that `held` holds.
  public func holds(_ held: HeldFolder, as name: String) throws(FileError) -> Bool {
    try entry(name)?.isSame(as: held.identity) ?? false
  }

  /// Whether its path, links followed, still leads here.
  public var isInPlace: Bool {
    var status = stat()
    return EnclosedPaths.look(path, &status) == 0
      && FolderEntry(status).isSame(as: identity)
  }

  // MARK: Helpers

  func failure(_ code: Int32, _ name: String, _ operation: String) -> FileError {
    FileError(Errno(rawValue: code), path: path.appending(name: name), operation: operation)
  }

  func fault(
    _ step: StorageFaults.Step, _ name: String, _ operation: String
  ) throws(FileError) {
    if let fault = StorageFaults.fault(step, path.appending(name: name)) {
      throw FileError(fault, path: path.appending(name: name), operation: operation)
    }
  }

  /// A name, not a way to somewhere else.
  func check(_ name: String) throws(FileError) {
    guard !name.isEmpty, name != ".", name != "..", !name.utf8.contains(0x2F),
      !name.utf8.contains(0)
    else {
      throw FileError(
        kind: .other, path: path, operation: "write", reason: "'\(name)' is no name in a folder")
    }
  }

  /// Throws for what cannot be gone through or written to.
  func refuse(_ name: String, operation: String) throws(FileError) {
    if let found = try entry(name) { throw refusal(name, found, operation: operation) }
  }

  private func refusal(_ name: String, _ found: FolderEntry, operation: String) -> FileError {
    let place = path.appending(name: name)
    return found.kind == .link
      ? FileError.link(place, operation: operation)
      : FileError.notOurs(place, found.phrase, operation: operation)
  }
}
