import CPlatform
import SystemPackage

#if canImport(Glibc)
  import Glibc
#endif

/// A folder held open by descriptor, for inspecting, reading, writing, renaming and removing
/// entries.
///
/// All operations act on the folder that was opened, whatever happens to its path. Unless stated
/// otherwise they take a single name and follow no link; a link, file or device in the place of a
/// folder is refused (`FileError.Kind.notOurs`). Paths are used only in messages and for other
/// programs.
///
/// Throwing functions report the cause; functions with an optional result return `nil` for any
/// failure. Cost: one descriptor while it is held, and one system call per operation unless stated
/// otherwise.
public final class HeldFolder: Sendable {
  let descriptor: Int32
  /// The opened path, and the names below it, separated by `/`.
  private let start: FilePath
  private let rest: String

  private init(_ descriptor: Int32, _ start: FilePath, _ rest: String) {
    self.descriptor = descriptor
    self.start = start
    self.rest = rest
  }

  /// Takes ownership of the descriptor of a folder.
  convenience init(taking descriptor: Int32, at path: FilePath) {
    self.init(descriptor, path, "")
  }

  deinit { close(descriptor) }

  /// The path at which the folder was opened. Cost: creates a new path.
  public var path: FilePath { rest.isEmpty ? start : start.pushing(FilePath(text: rest)) }

  static let openFlags = O_RDONLY | O_DIRECTORY | O_CLOEXEC

  /// Opens a folder. Links are followed as far as `EnclosedPaths` allows; one at the end is not
  /// followed if `followsLast` is `false`.
  static func open(_ path: FilePath, followsLast: Bool = true) throws(Errno) -> Int32 {
    let opened = EnclosedPaths.open(path, openFlags | (followsLast ? 0 : O_NOFOLLOW))
    guard opened >= 0 else { throw Errno(rawValue: errno) }
    return opened
  }

  /// The folder at a path from the user. Links are followed as far as `EnclosedPaths` allows.
  public static func following(_ path: FilePath) throws(FileError) -> HeldFolder {
    do throws(Errno) {
      return HeldFolder(taking: try open(path.isEmpty ? FilePath(".") : path), at: path)
    } catch {
      throw FileError(error, path: path, operation: "open")
    }
  }

  /// The folder at `path`, for listing and inspection. Throws if it does not exist, is not a
  /// folder, or may not be read.
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

  /// Opens a folder; `nil` if there is no readable one.
  public convenience init?(_ path: FilePath, followsLast: Bool = true) {
    do throws(Errno) {
      self.init(taking: try Self.open(path, followsLast: followsLast), at: path)
    } catch {
      DeviceErrors.note(error, path, "list")
      return nil
    }
  }

  /// The folder at a path from the user. Missing folders are created.
  public static func making(following path: FilePath) throws(FileError) -> HeldFolder {
    if let fault = StorageFaults.fault(.makeFolder, path), !FileSystem.exists(path) {
      throw FileError(fault, path: path, operation: "make folder")
    }
    try FileSystem.makeFolder(path)
    return try following(path)
  }

  // MARK: Subfolders

  /// The folder `name`; `nil` if it does not exist. A link, file or device is refused.
  public func folder(_ name: String) throws(FileError) -> HeldFolder? {
    try check(name)
    return try folder(RawName(name))
  }

  func folder(_ name: RawName) throws(FileError) -> HeldFolder? {
    let opened =
      StorageFaults.fails(.open, path.appending(name: name.text))
      ? -1 : openat(descriptor, name.bytes, Self.openFlags | O_NOFOLLOW)
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

  /// The folder at `path`, relative to this one; `nil` if it cannot be read. Links and `..` are
  /// refused. Cost: one system call per component.
  public func below(_ path: String) -> HeldFolder? {
    var folder = self
    for name in path.split(separator: "/") {
      guard name != ".." else { return nil }
      do throws(Errno) {
        folder = try folder.step(String(name))
      } catch {
        DeviceErrors.note(error, folder.path.appending(name: String(name)), "list")
        return nil
      }
    }
    return folder
  }

  /// The folder `name`, for a look at all that it holds; `nil` where this user may not look, and
  /// where it is no folder any more. Throws if the machine fails: then nothing is known of it.
  public func listable(_ name: String) throws(FileError) -> HeldFolder? {
    do throws(Errno) {
      return try step(name)
    } catch {
      let error = failure(error.rawValue, name, "list")
      if error.isOfMachine { throw error }
      return nil
    }
  }

  /// The status of `name`, without following a link; `nil` if it does not exist, and where this user may
  /// not look. Throws if the machine fails: then nothing is known of it.
  public func lookable(_ name: String) throws(FileError) -> FileStatus? {
    do throws(FileError) {
      return try entry(name)
    } catch {
      if error.isOfMachine { throw error }
      return nil
    }
  }

  private func step(_ name: String) throws(Errno) -> HeldFolder {
    let opened =
      StorageFaults.fails(.open, path.appending(name: name))
      ? -1
      : PathText.withCString(name) { openat(descriptor, $0, Self.openFlags | O_NOFOLLOW) }
    guard opened >= 0 else { throw Errno(rawValue: errno) }
    return inner(opened, name)
  }

  /// The folder `name`, created if it does not exist.
  public func makeFolder(_ name: String) throws(FileError) -> HeldFolder {
    // Repeated, because another process may remove the folder between the two steps.
    for _ in 0..<3 {
      if let present = try folder(name) { return present }
      try make(name, mayExist: true)
    }
    guard let made = try folder(name) else { throw failure(ENOENT, name, "make folder") }
    return made
  }

  /// Creates the folder `name`; `nil` if the name exists.
  public func makeNewFolder(_ name: String) throws(FileError) -> HeldFolder? {
    try check(name)
    guard try make(name, mayExist: true) else { return nil }
    guard let made = try folder(name) else { throw failure(ENOENT, name, "make folder") }
    return made
  }

  /// Returns whether the folder was created.
  @discardableResult
  private func make(_ name: String, mayExist: Bool) throws(FileError) -> Bool {
    try fault(.makeFolder, name, "make folder")
    if mkdirat(descriptor, name, 0o777) == 0 { return true }
    let code = errno
    if code == EEXIST, mayExist { return false }
    throw failure(code, name, "make folder")
  }

  // MARK: Inspection

  /// The status of `name`, without following a link; `nil` if it does not exist.
  public func entry(_ name: String) throws(FileError) -> FileStatus? {
    try check(name)
    return try entry(RawName(name))
  }

  func entry(_ name: RawName) throws(FileError) -> FileStatus? {
    do throws(Errno) {
      if StorageFaults.fails(.inspect, path.appending(name: name.text)) {
        throw Errno(rawValue: errno)
      }
      return try FileStatus(name.bytes, in: descriptor)
    } catch {
      if error == .noSuchFileOrDirectory { return nil }
      throw failure(error.rawValue, name.text, "look at")
    }
  }

  /// The status of a path relative to this folder; `.` is the folder itself. Links are followed
  /// except at the end. `nil` if it does not exist, or cannot be looked at.
  public func status(of path: String) -> FileStatus? {
    do throws(Errno) {
      if StorageFaults.fails(.inspect, self.path.pushing(FilePath(text: path))) {
        throw Errno(rawValue: errno)
      }
      return try PathText.withCString(path) { name in
        Result { () throws(Errno) in try FileStatus(name, in: descriptor) }
      }.get()
    } catch {
      DeviceErrors.note(error, self.path.pushing(FilePath(text: path)), "look at")
      return nil
    }
  }

  /// The stamp of the regular file `name`; `nil` for anything else, including links.
  public func stamp(of name: String) -> FileStamp? { status(of: name)?.fileStamp }

  /// The status of the folder itself.
  func status() throws(FileError) -> FileStatus {
    do throws(Errno) {
      return try FileStatus(FileDescriptor(rawValue: descriptor))
    } catch {
      throw FileError(error, path: path, operation: "look at")
    }
  }

  /// Whether `name` is the folder that `held` refers to.
  public func holds(_ held: HeldFolder, as name: String) throws(FileError) -> Bool {
    guard let found = try entry(name) else { return false }
    return found.id == (try held.status().id)
  }

  /// Whether its path, with links followed, still refers to this folder.
  public var isInPlace: Bool {
    guard let found = try? FileStatus(of: path), let own = try? status() else { return false }
    return found.id == own.id
  }

  // MARK: Listing

  /// All names except `.` and `..`, sorted.
  public func names() throws(FileError) -> [String] { try rawNames().map(\.text).sorted() }

  func rawNames() throws(FileError) -> [RawName] {
    var names: [RawName] = []
    try forEachName { name, _ in
      names.append(RawName(copying: name))
      return true
    }
    return names
  }

  /// The first `limit` names in the order of the file system, sorted, as text (`PathText`). Nothing
  /// is read beyond them.
  public func names(atMost limit: Int) throws(FileError) -> [String] {
    var names: [String] = []
    guard limit > 0 else { return names }
    try forEachName { name, _ in
      names.append(PathText.text(of: name))
      return names.count < limit
    }
    return names.sorted()
  }

  /// Names as text (`PathText`) and kinds of all entries except `.` and `..`, in the order of the
  /// file system. Cost: one more system call per entry if the file system does not report kinds.
  public func list() throws(FileError) -> [(name: String, kind: FileStatus.Kind)] {
    var found: [(name: String, kind: FileStatus.Kind)] = []
    var untold: [Int] = []
    try forEachName { pointer, type in
      let kind: FileStatus.Kind =
        switch type {
        case Int32(DT_REG): .file
        case Int32(DT_DIR): .folder
        case Int32(DT_LNK): .link
        default: .other
        }
      if type == Int32(DT_UNKNOWN) { untold.append(found.count) }
      found.append((PathText.text(of: pointer), kind))
      return true
    }
    for index in untold { found[index].kind = try entry(found[index].name)?.kind ?? .other }
    return found
  }

  /// - Parameter body: receives every name except `.` and `..`, and its `DT_…` type, until it returns
  ///   `false`.
  private func forEachName(_ body: (UnsafePointer<CChar>, Int32) -> Bool) throws(FileError) {
    let own =
      StorageFaults.fails(.list, path) ? -1 : openat(descriptor, ".", Self.openFlags)
    guard own >= 0, let stream = fdopendir(own) else {
      let code = errno
      if own >= 0 { close(own) }
      throw FileError(Errno(rawValue: code), path: path, operation: "list")
    }
    defer { closedir(stream) }
    errno = 0
    while let entry = readdir(stream) {
      let type = Int32(entry.pointee.d_type)
      let goesOn = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { name in
          strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || body(name, type)
        }
      }
      if !goesOn { return }
      errno = 0
    }
    // `readdir` returns null at the end and on errors; `errno` tells which.
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

  /// Throws unless `name` is a single name, without slashes or NUL, and not `.` or `..`.
  func check(_ name: String) throws(FileError) {
    guard !name.isEmpty, name != ".", name != "..", !name.utf8.contains(0x2F),
      !name.utf8.contains(0)
    else {
      throw FileError(
        kind: .other, path: path, operation: "write", reason: "'\(name)' is no name in a folder")
    }
  }

  /// Throws an error about the entry `name`, which is not of the required kind.
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
