import CPlatform
import SystemPackage

#if canImport(Glibc)
  import Glibc
#endif

/// A folder held by descriptor: the one way to look at, read, write, rename and remove many things in it.
///
/// Whatever happens to its path meanwhile, steps act in the very folder that was opened, on a single name
/// in it where nothing else is said, and no link is followed: a link, file or device in the place of a folder
/// is refused (`FileError.Kind.notOurs`). Paths are kept for messages and for other programs.
///
/// What throws says what is wrong, for who must have it; what is optional says `nil` to anything that keeps
/// it from answering, for who only looks. Cost: one descriptor while it is held; steps are one system call
/// where nothing else is said.
public final class HeldFolder: Sendable {
  let descriptor: Int32
  /// The path that was opened, and the names from there on, with `/` between them.
  private let start: FilePath
  private let rest: String

  private init(_ descriptor: Int32, _ start: FilePath, _ rest: String) {
    self.descriptor = descriptor
    self.start = start
    self.rest = rest
  }

  /// Takes a descriptor of a folder, and closes it in the end.
  convenience init(taking descriptor: Int32, at path: FilePath) {
    self.init(descriptor, path, "")
  }

  deinit { close(descriptor) }

  /// Where it was found. Cost: a new path at every call.
  public var path: FilePath { rest.isEmpty ? start : start.pushing(FilePath(text: rest)) }

  static let openFlags = O_RDONLY | O_DIRECTORY | O_CLOEXEC

  /// Links on the way are followed, as far as `EnclosedPaths` allows, one at the end unless `followsLast` is
  /// `false`.
  static func open(_ path: FilePath, followsLast: Bool = true) throws(Errno) -> Int32 {
    let opened = EnclosedPaths.open(path, openFlags | (followsLast ? 0 : O_NOFOLLOW))
    guard opened >= 0 else { throw Errno(rawValue: errno) }
    return opened
  }

  /// The folder at a path that the user named: links on the way and at its end are followed, as far as
  /// `EnclosedPaths` allows.
  public static func following(_ path: FilePath) throws(FileError) -> HeldFolder {
    do throws(Errno) {
      return HeldFolder(taking: try open(path.isEmpty ? FilePath(".") : path), at: path)
    } catch {
      throw FileError(error, path: path, operation: "open")
    }
  }

  /// The same for who lists or looks. Throws what keeps it from being read: absent, no folder, forbidden.
  public convenience init(
    reading path: FilePath, followsLast: Bool = true
  ) throws(FileError) {
    let opened: Int32
    do throws(Errno) {
      opened = try Self.open(path, followsLast: followsLast)
    } catch {
      throw FileError(error, path: path, operation: "list")
    }
    self.init(taking: opened, at: path)
  }

  /// The same; `nil` where there is no folder that can be read.
  public convenience init?(_ path: FilePath, followsLast: Bool = true) {
    guard let opened = try? Self.open(path, followsLast: followsLast) else { return nil }
    self.init(taking: opened, at: path)
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
    return inner(opened, name.text)
  }

  private func inner(_ opened: Int32, _ name: String) -> HeldFolder {
    HeldFolder(opened, start, rest.isEmpty ? name : rest + "/" + name)
  }

  /// A folder further down, `path` relative to this one; no link is followed, and none leads up. `nil` where
  /// none can be read. Cost: one system call per part of the path.
  public func below(_ path: String) -> HeldFolder? {
    var folder = self
    for name in path.split(separator: "/") {
      guard name != ".." else { return nil }
      let name = String(name)
      let opened = PathText.withCString(name) { [folder] in
        openat(folder.descriptor, $0, Self.openFlags | O_NOFOLLOW)
      }
      guard opened >= 0 else { return nil }
      folder = folder.inner(opened, name)
    }
    return folder
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
  public func entry(_ name: String) throws(FileError) -> FileStatus? {
    try check(name)
    return try entry(RawName(name))
  }

  func entry(_ name: RawName) throws(FileError) -> FileStatus? {
    do throws(Errno) {
      return try FileStatus(name.bytes, in: descriptor)
    } catch {
      if error == .noSuchFileOrDirectory { return nil }
      throw failure(error.rawValue, name.text, "look at")
    }
  }

  /// What a path relative to this folder (`.`: the folder itself) is; links on the way are followed, one at
  /// the end is looked at by itself. `nil` when there is nothing.
  public func status(of path: String) -> FileStatus? {
    PathText.withCString(path) { try? FileStatus($0, in: descriptor) }
  }

  /// The stamp of the regular file `name`; a link is none.
  public func stamp(of name: String) -> FileStamp? { status(of: name)?.fileStamp }

  /// Of the folder itself.
  func status() throws(FileError) -> FileStatus {
    do throws(Errno) {
      return try FileStatus(FileDescriptor(rawValue: descriptor))
    } catch {
      throw FileError(error, path: path, operation: "look at")
    }
  }

  /// Whether `name` is the very folder that `held` holds.
  public func holds(_ held: HeldFolder, as name: String) throws(FileError) -> Bool {
    guard let found = try entry(name) else { return false }
    return found.id == (try held.status().id)
  }

  /// Whether its path, links followed, still leads here.
  public var isInPlace: Bool {
    guard let found = try? FileStatus(of: path), let own = try? status() else { return false }
    return found.id == own.id
  }

  // MARK: Listing

  /// All names but `.` and `..`, sorted.
  public func names() throws(FileError) -> [String] { try rawNames().map(\.text).sorted() }

  func rawNames() throws(FileError) -> [RawName] {
    var names: [RawName] = []
    try forEachName { name, _ in names.append(RawName(copying: name)) }
    return names
  }

  /// Names (as `PathText` carries them) and kinds of all entries but `.` and `..`, in the order of the
  /// file system. Cost: one more system call per entry where the file system does not tell kinds.
  public func list() throws(FileError) -> [(name: String, kind: FileStatus.Kind)] {
    var found: [(name: String, kind: FileStatus.Kind)] = []
    try forEachName { pointer, type in
      let name = PathText.text(of: pointer)
      let kind: FileStatus.Kind =
        switch type {
        case Int32(DT_REG): .file
        case Int32(DT_DIR): .folder
        case Int32(DT_LNK): .link
        case Int32(DT_UNKNOWN): (try? FileStatus(pointer, in: descriptor))?.kind ?? .other
        default: .other
        }
      found.append((name, kind))
    }
    return found
  }

  /// The same; none where it cannot be read.
  public func entries() -> [(name: String, kind: FileStatus.Kind)] { (try? list()) ?? [] }

  /// - Parameter body: gets every name but `.` and `..`, and its `DT_…`.
  private func forEachName(_ body: (UnsafePointer<CChar>, Int32) -> Void) throws(FileError) {
    let own = openat(descriptor, ".", Self.openFlags)
    guard own >= 0, let stream = fdopendir(own) else {
      let code = errno
      if own >= 0 { close(own) }
      throw FileError(Errno(rawValue: code), path: path, operation: "list")
    }
    defer { closedir(stream) }
    errno = 0
    while let entry = readdir(stream) {
      let type = Int32(entry.pointee.d_type)
      withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { name in
          if strcmp(name, ".") != 0, strcmp(name, "..") != 0 { body(name, type) }
        }
      }
      errno = 0
    }
    // The end, or a device that did not answer in the middle.
    guard errno == 0 else {
      throw FileError(Errno(rawValue: errno), path: path, operation: "list")
    }
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

  private func refusal(_ name: String, _ found: FileStatus, operation: String) -> FileError {
    let place = path.appending(name: name)
    return found.kind == .link
      ? FileError.link(place, operation: operation)
      : FileError.notOurs(place, found.phrase, operation: operation)
  }
}
