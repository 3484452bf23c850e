import CPlatform
import Glibc
import Synchronization
import SystemPackage

/// Folders that no path below them can leave, for the whole process.
///
/// Readers, decoders and stages work with paths, so everything that opens, lists or inspects a path
/// uses this type. A path inside an enclosed folder is opened as by `EnclosedFolder`. All other
/// paths come from the user and are opened normally.
///
/// The state is global on purpose. Codecs and stages in other modules and threads open the paths
/// that a capture names, long after the capture was read; an enclosure that had to be passed to
/// each of them could be forgotten. Enclosures are only added: enclosing a folder again changes
/// nothing, and an enclosure is never removed or opened.
///
/// Memory: about 200 bytes per folder until the process ends. Cost per call: a comparison per
/// enclosed folder, or per component of the path if there are many folders; three more system calls
/// for paths inside.
public enum EnclosedPaths {
  private struct Root {
    var links: EnclosedFolder.Links
    /// Whether links in the path of the folder are followed.
    var followsPath: Bool
    /// Whether the user named this path. It and everything below it is then opened normally.
    var isOpen = false
  }

  /// By path as text (`PathText`), without trailing slash.
  private static let roots = Mutex<[String: Root]>([:])

  /// Encloses `folder`: no path below it can leave it from now on. Paths are compared literally.
  ///
  /// - Parameter followsPath: as for `EnclosedFolder`.
  public static func enclose(
    _ folder: FilePath, links: EnclosedFolder.Links, followsPath: Bool = true
  ) {
    let root = Root(links: links, followsPath: followsPath)
    guard !folder.isEmpty else { return }
    roots.withLock { roots in
      // Existing enclosures are kept.
      if roots[folder.text]?.isOpen != false { roots[folder.text] = root }
    }
  }

  /// Undoes `enclose` or `leaveOpen`. For tests.
  static func forget(_ folder: FilePath) {
    roots.withLock { $0[folder.text] = nil }
  }

  /// Exempts `path` and everything below it from an enclosure, as for a calibration or metrics file
  /// that the user named.
  public static func leaveOpen(_ path: FilePath) {
    guard !path.isEmpty else { return }
    roots.withLock { roots in
      if roots[path.text] == nil {
        roots[path.text] = Root(links: .inside, followsPath: true, isOpen: true)
      }
    }
  }

  /// The innermost enclosed folder that contains `path` or is `path`, and the rest of the path;
  /// `nil` if there is none. In outputs a path with `..` is considered the user's own.
  private static func place(of path: String) -> (folder: String, root: Root, rest: String)? {
    guard let found = innermost(path), !found.root.isOpen else { return nil }
    let goesUp = found.root.links == .none && found.rest.split(separator: "/").contains("..")
    return goesUp ? nil : found
  }

  private static func innermost(_ path: String) -> (folder: String, root: Root, rest: String)? {
    roots.withLock { roots in
      if roots.isEmpty { return nil }
      if roots.count <= 4 {
        var found: (folder: String, root: Root, rest: String)?
        for (folder, root) in roots where folder.utf8.count > found?.folder.utf8.count ?? -1 {
          if let rest = rest(of: path, below: folder) { found = (folder, root, rest) }
        }
        return found
      }
      var end = path.endIndex
      while true {
        let folder = String(path[..<end])
        if let root = roots[folder], let rest = rest(of: path, below: folder) {
          return (folder, root, rest)
        }
        guard let slash = path[..<end].utf8.lastIndex(of: 0x2F), slash != path.startIndex else {
          return nil
        }
        end = slash
      }
    }
  }

  private static func rest(of path: String, below folder: String) -> String? {
    let (path, folder) = (path.utf8, folder.utf8)
    guard path.count >= folder.count, path.starts(with: folder) else { return nil }
    let rest = path.dropFirst(folder.count)
    guard let first = rest.first else { return "" }
    if first == 0x2F { return String(rest.dropFirst()) }
    return folder.last == 0x2F ? String(rest) : nil
  }

  // MARK: Opening

  /// Like the system call: a descriptor, or -1 and `errno`.
  static func open(_ path: String, _ flags: Int32, mode: mode_t = 0) -> Int32 {
    let opened = opening(path, flags, mode)
    if opened < 0, flags & (O_WRONLY | O_RDWR) == 0 {
      let code = errno
      DeviceErrors.note(Errno(rawValue: code), FilePath(text: path), "open")
      errno = code
    }
    return opened
  }

  private static func opening(_ path: String, _ flags: Int32, _ mode: mode_t) -> Int32 {
    let look: StorageFaults.Look = flags & EnclosedFolder.pathOnly == 0 ? .open : .inspect
    if StorageFaults.fails(look, FilePath(text: path)) { return -1 }
    guard let (folder, root, rest) = place(of: path) else {
      return PathText.withCString(path) { Glibc.open($0, flags, mode) }
    }
    if rest.isEmpty {
      let opened = PathText.withCString(path) {
        root.followsPath
          ? Glibc.open($0, flags, mode)
          : result(scanmill_open_without_links($0, flags, Int32(mode)))
      }
      return opened
    }
    do throws(Errno) {
      return result(try held(folder, root).open(rest, flags, mode: mode))
    } catch {
      return result(-error.rawValue)
    }
  }

  static func open(_ path: FilePath, _ flags: Int32, mode: mode_t = 0) -> Int32 {
    open(path.text, flags, mode: mode)
  }

  /// Opens a file for reading, with `O_CLOEXEC`, and without waiting for the other end of a pipe.
  public static func openForReading(_ path: FilePath) throws(Errno) -> FileDescriptor {
    while true {
      let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
      if file >= 0 { return FileDescriptor(rawValue: file) }
      if errno != EINTR { throw Errno(rawValue: errno) }
    }
  }

  /// The enclosed folder of a path, held open, and the rest of the path; `nil` for other paths, for
  /// the enclosed folder itself, and if it cannot be opened.
  static func enclosure(of path: String) -> (folder: EnclosedFolder, rest: String)? {
    guard let (folder, root, rest) = place(of: path), !rest.isEmpty,
      let held = try? held(folder, root)
    else { return nil }
    return (held, rest)
  }

  private static func held(_ folder: String, _ root: Root) throws(Errno) -> EnclosedFolder {
    do throws(FileError) {
      return try EnclosedFolder(
        FilePath(text: folder), links: root.links, followsPath: root.followsPath)
    } catch {
      throw error.code ?? .ioError
    }
  }

  private static func result(_ opened: Int32) -> Int32 {
    if opened >= 0 { return opened }
    errno = -opened
    return -1
  }

  // MARK: Inspection

  /// The status of a path's target. A link at the end is followed unless `followsLast` is `false`.
  static func status(of path: String, followsLast: Bool = true) throws(Errno) -> FileStatus {
    do throws(Errno) {
      return try look(at: path, followsLast: followsLast)
    } catch {
      DeviceErrors.note(error, FilePath(text: path), "look at")
      throw error
    }
  }

  private static func look(at path: String, followsLast: Bool) throws(Errno) -> FileStatus {
    if StorageFaults.fails(.inspect, FilePath(text: path)) { throw Errno(rawValue: errno) }
    guard let (folder, root, rest) = place(of: path), !rest.isEmpty else {
      return try plainStatus(of: path, followsLast: followsLast)
    }
    if root.links == .none, root.followsPath, !rest.utf8.contains(0x2F), rest != ".." {
      // Only the last component can be a link, and it is inspected without following.
      let found = try plainStatus(of: path, followsLast: false)
      if followsLast, found.kind == .link { throw .tooManySymbolicLinkLevels }
      return found
    }
    return try held(folder, root).status(of: rest, followsLast: followsLast)
  }

  private static func plainStatus(
    of path: String, followsLast: Bool
  ) throws(Errno) -> FileStatus {
    try PathText.withCString(path) { name in
      Result { () throws(Errno) in try FileStatus(name, followsLast: followsLast) }
    }.get()
  }

  // MARK: Names in folders

  /// Passes the folder of `path` and its last component to `body`, for system calls that take both.
  /// Returns the result of `body`, or -1 and `errno` if the folder cannot be opened.
  static func withParent(
    of path: FilePath, _ body: (_ folder: Int32, _ name: UnsafePointer<CChar>) -> Int32
  ) -> Int32 {
    guard enclosure(of: path.text) != nil, let name = path.lastComponent else {
      return path.withPlatformString { body(AT_FDCWD, $0) }
    }
    let folder = open(
      path.removingLastComponent(), EnclosedFolder.pathOnly | O_DIRECTORY | O_CLOEXEC)
    guard folder >= 0 else { return -1 }
    defer { close(folder) }
    return name.withPlatformString { body(folder, $0) }
  }

  /// Passes a path for a folder to `body`, for system calls that take only a path. It refers to the
  /// folder that was opened, whatever is at `path` later. Returns -1 and `errno` if the folder
  /// cannot be opened.
  public static func withFolder(
    _ path: FilePath, _ body: (UnsafePointer<CChar>) -> Int32
  ) -> Int32 {
    guard enclosure(of: path.text) != nil else { return path.withPlatformString(body) }
    let folder = open(path, EnclosedFolder.pathOnly | O_DIRECTORY | O_CLOEXEC)
    guard folder >= 0 else { return -1 }
    defer { close(folder) }
    return "/proc/self/fd/\(folder)".withCString(body)
  }

  // MARK: Error messages

  /// The error for a refused path, which names the link; `nil` if no link was the cause.
  static func refusal(of path: FilePath, _ errno: Errno, operation: String) -> FileError? {
    guard let (folder, root, rest) = place(of: path.text), !rest.isEmpty else { return nil }
    switch (errno, root.links) {
    case (.tooManySymbolicLinkLevels, .none), (.notDirectory, .none):
      guard let link = link(in: rest, of: folder, root) else { return nil }
      return FileError.link(link, operation: operation)
    case (.improperLink, .inside):
      return FileError(
        kind: .other, path: path, operation: operation,
        reason: "a link leads out of \(folder.shownPath), and was not followed",
        remedy: "put the file itself there")
    default: return nil
    }
  }

  /// The first component of a path that is a link.
  private static func link(in rest: String, of folder: String, _ root: Root) -> FilePath? {
    guard let held = try? held(folder, root) else { return nil }
    var way = FilePath()
    for component in FilePath(text: rest).components {
      way.append(component)
      guard let found = try? held.status(of: way.text, followsLast: false) else { return nil }
      if found.kind == .link { return FilePath(text: folder).pushing(way) }
    }
    return nil
  }
}

extension String {
  /// For display.
  fileprivate var shownPath: String { PathText.shown(self) }
}

/// A folder held open by descriptor, such that no path opened through it can leave it, neither by
/// links nor by `..`.
///
/// The kernel enforces this while it resolves the path (`openat2`). A link that is created between
/// a check and the use therefore has no effect. Files outside are not opened, listed or inspected.
public final class EnclosedFolder: Sendable {
  /// The treatment of links below the folder.
  public enum Links: Sendable {
    /// Followed if the target is inside the folder, also if the link is absolute; otherwise
    /// `EXDEV`. For captures.
    case inside
    /// Never followed: `ELOOP`. For outputs.
    case none
  }

  public let path: FilePath
  let links: Links
  let descriptor: Int32

  /// Opens `path`.
  ///
  /// - Parameter followsPath: whether links in `path` itself are followed, as far as
  ///   `EnclosedPaths` allows. True for paths from the user. `false` if the path is known to have
  ///   no links; any link in it is then refused.
  public init(
    _ path: FilePath, links: Links = .inside, followsPath: Bool = true
  ) throws(FileError) {
    self.path = path
    self.links = links
    let place = path.isEmpty ? FilePath(".") : path
    let flags = Self.pathOnly | O_DIRECTORY | O_CLOEXEC
    let opened =
      followsPath
      ? Self.result(EnclosedPaths.open(place, flags))
      : place.withPlatformString { scanmill_open_without_links($0, flags, 0) }
    descriptor = opened
    guard opened >= 0 else {
      throw FileError(Errno(rawValue: -opened), path: path, operation: "list")
    }
  }

  deinit {
    if descriptor >= 0 { close(descriptor) }
  }

  /// Opens a path relative to the folder, as `openat` does; `.` is the folder itself.
  ///
  /// - Returns: a descriptor, or a negative error number: `EXDEV` for paths that lead outside,
  ///   `ELOOP` for link loops and links that are not followed.
  func open(_ relative: String, _ flags: Int32, mode: mode_t = 0) -> Int32 {
    let rest = relative.isEmpty ? "." : relative
    let look: StorageFaults.Look = flags & Self.pathOnly == 0 ? .open : .inspect
    if StorageFaults.fails(look, path.pushing(FilePath(text: relative))) { return -errno }
    let opened = step(rest, flags, mode, followsLinks: links == .inside)
    guard opened == -EXDEV, links == .inside, let real = realRest(rest) else { return opened }
    // The kernel refuses absolute links, and links that leave the folder and come back.
    return step(real, flags, mode, followsLinks: false)
  }

  /// A folder inside, or the folder itself (`.`), for reading and listing. Throws if it cannot be
  /// read.
  public func folder(_ relative: String = ".") throws(FileError) -> HeldFolder {
    let place = relative == "." ? path : path.pushing(FilePath(text: relative))
    let opened = open(relative, HeldFolder.openFlags)
    guard opened >= 0 else {
      throw FileError(Errno(rawValue: -opened), path: place, operation: "list")
    }
    return HeldFolder(taking: opened, at: place)
  }

  private func step(
    _ relative: String, _ flags: Int32, _ mode: mode_t, followsLinks: Bool
  ) -> Int32 {
    PathText.withCString(relative) {
      Self.walks
        ? scanmill_walk_beneath(descriptor, $0, flags, Int32(mode), followsLinks ? 1 : 0)
        : scanmill_open_beneath(descriptor, $0, flags, Int32(mode), followsLinks ? 1 : 0)
    }
  }

  /// For tests: resolves paths as on kernels without `openat2`.
  @TaskLocal static var walks = false

  /// The target of a path, relative to the folder and without links; `nil` if it is outside or does
  /// not exist. Reads links but opens nothing.
  private func realRest(_ rest: String) -> String? {
    guard var target = Self.real(path.pushing(FilePath(text: rest))), let root = Self.real(path),
      target.removePrefix(root)
    else { return nil }
    return target.isEmpty ? "." : target.text
  }

  static func real(_ path: FilePath) -> FilePath? {
    let place = path.isEmpty ? FilePath(".") : path
    guard let real = place.withPlatformString({ realpath($0, nil) }) else { return nil }
    defer { free(real) }
    return FilePath(platformString: real)
  }

  // MARK: Inspection

  /// The kind of a path's target. Links are followed as far as allowed.
  public enum Found: Sendable {
    case file(FileStamp)
    case folder
    /// A pipe, device or socket.
    case other
    /// The target is outside of the folder.
    case outside
    /// Permission to inspect the target is denied.
    case forbidden
    /// The machine failed: nothing is known of it.
    case failed(FileError)
    case nothing
  }

  /// Inspects the target of a path relative to the folder. Opens no file and inspects nothing
  /// outside.
  public func look(at relative: String) -> Found {
    let found: FileStatus
    do throws(Errno) {
      found = try status(of: relative)
    } catch {
      switch error {
      case .improperLink:
        // A dangling link counts as nothing, even if it leads outside.
        let leads = Self.real(path.pushing(FilePath(text: relative))) != nil
        return leads || errno == EACCES ? .outside : .nothing
      case .tooManySymbolicLinkLevels where links == .none: return .outside
      case .permissionDenied, .notPermitted: return .forbidden
      case _ where FileError.numbersOfMachine.contains(error):
        return .failed(
          FileError(error, path: path.pushing(FilePath(text: relative)), operation: "look at"))
      default: return .nothing
      }
    }
    return switch found.kind {
    case .file: .file(found.stamp)
    case .folder: .folder
    case .link, .other: .other
    }
  }

  /// The stamp of a regular file inside; `nil` for anything else.
  public func stamp(of relative: String) -> FileStamp? {
    if case .file(let stamp) = look(at: relative) { stamp } else { nil }
  }

  /// Throws `improperLink` for paths that lead outside.
  func status(of relative: String, followsLast: Bool = true) throws(Errno) -> FileStatus {
    let handle = open(relative, Self.pathOnly | O_CLOEXEC | (followsLast ? 0 : O_NOFOLLOW))
    guard handle >= 0 else { throw Errno(rawValue: -handle) }
    defer { close(handle) }
    return try FileStatus(FileDescriptor(rawValue: handle))
  }

  /// `O_PATH`, which the C library's module does not export. The value is the same on all Linux
  /// architectures that Swift supports.
  static let pathOnly: Int32 = 0o10_000_000

  private static func result(_ opened: Int32) -> Int32 { opened >= 0 ? opened : -errno }
}
