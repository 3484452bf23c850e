import CPlatform
import SystemPackage
import Glibc

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
    var held = stat()
    if code == ENOENT, fstat(descriptor, &held) == 0, held.st_nlink == 0 {
      throw FileError(
        kind: .notFound, path: path.appending(name: name), operation: "make folder",
        reason: "the folder around it was removed: is another machine working on this output?")
    }
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

  /// Whether the file system is known to change the times of a folder with every name that is added, removed or
  /// replaced in it, at once and for every process. Not so where another machine keeps the folder (its times are
  /// remembered for a while), where folders have no times of their own (object stores), or where this is not known.
  ///
  /// Cost: one system call.
  public var tellsOfNames: Bool {
    if let answer = Self.answerOfNames { return answer }
    return Self.localTypes.contains(scanmill_file_system_type(descriptor))
  }

  /// For tests: what every file system is.
  @TaskLocal static var answerOfNames: Bool?

  /// From `linux/magic.h`, and of ZFS and bcachefs their own: ext2 to ext4, XFS, Btrfs, tmpfs, overlayfs, F2FS, ZFS,
  /// bcachefs.
  private static let localTypes: Set<Int64> = [
    0xEF53, 0x5846_5342, 0x9123_683E, 0x0102_1994, 0x794C_7630, 0xF2F5_2010, 0x2FC1_2FC1,
    0xCA45_1A4E,
  ]

  /// The status of a path in the form of the file system, relative to this folder unless it is whole. Links are
  /// followed except at the end. `nil` if it does not exist, or cannot be looked at.
  package func status(ofRaw path: UnsafePointer<CChar>) -> FileStatus? {
    try? FileStatus(path, in: descriptor)
  }

  /// Removes a file, a link, or a folder with its content. Does nothing if nothing is there.
  ///
  /// Works with descriptors and enters only folders that it has inspected: never links, folders
  /// that are replaced meanwhile, or other mounted file systems. At most a few dozen descriptors
  /// are open at any depth; deeper folders are first moved up.
  public func remove(_ name: String) throws(FileError) {
    try check(name)
    guard let found = try entry(name) else { return }
    guard found.kind == .folder else { return try unlink(RawName(name)) }
    var removal = Removal(base: self, device: try status().device)
    try remove(RawName(name), depth: 0, &removal)
    while let next = removal.moved.popLast() { try remove(next, depth: 0, &removal) }
  }

  /// State of the removal of a folder, shared by all levels.
  private struct Removal {
    /// The folder to which folders at a great depth are moved.
    let base: HeldFolder
    /// Device number of the file system to which removal is limited.
    let device: UInt64
    /// Names in `base` that remain to be removed.
    var moved: [RawName] = []
  }

  /// Removes the folder `name` if it is empty. Returns whether it no longer exists.
  @discardableResult
  public func removeIfEmpty(_ name: String) -> Bool {
    guard (try? check(name)) != nil, (try? fault(.unlink, name, "remove folder")) != nil else {
      return false
    }
    return unlinkat(descriptor, name, AT_REMOVEDIR) == 0 || errno == ENOENT
  }

  private static let deepest = 32

  private func remove(
    _ name: RawName, depth: Int, _ removal: inout Removal
  ) throws(FileError) {
    guard let found = try entry(name) else { return }
    guard found.kind == .folder else { return try unlink(name) }
    guard let inner = try folder(name) else { return }
    guard try inner.status().id == found.id else {
      throw FileError(
        kind: .temporary, path: inner.path, operation: "remove",
        reason: "was replaced by something else while it was removed")
    }
    guard scanmill_is_mount_root(inner.descriptor) == 0, found.device == removal.device else {
      throw FileError.notOurs(inner.path, "is a mounted file system", operation: "remove")
    }
    // Another process may still be adding files.
    for attempt in 0..<8 {
      for child in try inner.rawNames() {
        if depth >= Self.deepest, try inner.entry(child)?.kind == .folder {
          removal.moved.append(
            try inner.moveUp(child, to: removal.base, number: removal.moved.count))
        } else {
          try inner.remove(child, depth: depth + 1, &removal)
        }
      }
      try fault(.unlink, name.text, "remove folder")
      if unlinkat(descriptor, name.bytes, AT_REMOVEDIR) == 0 { return }
      let code = errno
      if code == ENOENT { return }
      guard code == ENOTEMPTY || code == EEXIST, attempt < 7 else {
        throw failure(code, name.text, "remove folder")
      }
    }
  }

  /// Moves a folder at a great depth to a new name in `base`.
  private func moveUp(
    _ name: RawName, to base: HeldFolder, number: Int
  ) throws(FileError) -> RawName {
    for attempt in 0..<1000 {
      let up = RawName(Replacement.name(of: "removed-\(number)-\(attempt)"))
      let code = scanmill_rename_new_entry(descriptor, name.bytes, base.descriptor, up.bytes)
      if code == 0 { return up }
      guard code == EEXIST else { throw failure(code, name.text, "remove folder") }
    }
    throw failure(EEXIST, name.text, "remove folder")
  }

  /// Programs may leave read-only folders. If removal is denied, the folder is made writable and
  /// the removal is tried once more.
  private func unlink(_ name: RawName) throws(FileError) {
    try fault(.unlink, name.text, "remove")
    if unlinkat(descriptor, name.bytes, 0) == 0 || errno == ENOENT { return }
    let code = errno
    if code == EACCES, fchmod(descriptor, 0o700) == 0, unlinkat(descriptor, name.bytes, 0) == 0 {
      return
    }
    throw failure(code, name.text, "remove")
  }
}
