import CPlatform
import Synchronization
import SystemPackage

#if canImport(Glibc)
  import Glibc
#endif

/// Folders of this process that no path below them leads out of, whoever opens it.
///
/// Readers of families, decoders and stages know paths. So everything that opens, lists or looks at a path
/// goes through here, and a path that begins with an enclosed folder is opened as `EnclosedFolder` does. All
/// other paths are what a user named, and are opened as they are.
///
/// State of the process, not a value: the paths that a capture names are opened by codecs and stages of other
/// modules, in other threads, long after the capture was read, and a border that one of them was not handed
/// would be none. So it is drawn once, where the folder becomes known, and holds for all. Borders are only
/// added: the same folder again changes nothing, and one that stands is neither moved nor opened.
///
/// Memory: about 200 bytes per folder, until the process ends.
/// Cost per call beyond that: a comparison per enclosed folder, or per part of the path where there are many;
/// below one three system calls more.
public enum EnclosedPaths {
  private struct Root {
    var links: EnclosedFolder.Links
    /// Whether links on the way to the folder are followed.
    var followsPath: Bool
    /// Whether the user named this very path: from there on it is opened as any other.
    var isOpen = false
  }

  /// By path, as `PathText` carries it, without a slash at the end.
  private static let roots = Mutex<[String: Root]>([:])

  /// From now on nothing below `folder` leads out of it. Paths are compared as they are written.
  ///
  /// - Parameter followsPath: see `EnclosedFolder`.
  public static func enclose(
    _ folder: FilePath, links: EnclosedFolder.Links, followsPath: Bool = true
  ) {
    let root = Root(links: links, followsPath: followsPath)
    guard !folder.isEmpty else { return }
    roots.withLock { roots in
      // A border that was drawn stays.
      if roots[folder.text]?.isOpen != false { roots[folder.text] = root }
    }
  }

  /// Ends what `enclose` or `leaveOpen` began. For tests.
  package static func forget(_ folder: FilePath) {
    roots.withLock { $0[folder.text] = nil }
  }

  /// From now on `path`, and what lies below it, is opened as it is also where it lies in an enclosed folder:
  /// a calibration file, a file of metrics that the user named.
  public static func leaveOpen(_ path: FilePath) {
    guard !path.isEmpty else { return }
    roots.withLock { roots in
      if roots[path.text] == nil {
        roots[path.text] = Root(links: .inside, followsPath: true, isOpen: true)
      }
    }
  }

  /// The innermost enclosed folder that `path` is or lies in, and the way from there; `nil` for a path in
  /// none. A path that goes up again on its way below an output is none of ours: the user wrote it.
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

  /// As `open`: a descriptor, or -1 and `errno`.
  static func open(_ path: String, _ flags: Int32, mode: mode_t = 0) -> Int32 {
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

  /// The same as a value, for who reads a regular file: closed on exec, never waiting for the other end of a
  /// pipe.
  public static func openForReading(_ path: FilePath) throws(Errno) -> FileDescriptor {
    while true {
      let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
      if file >= 0 { return FileDescriptor(rawValue: file) }
      if errno != EINTR { throw Errno(rawValue: errno) }
    }
  }

  /// The folder of an enclosed path, held open, and the rest of the path; `nil` for other paths, for the
  /// enclosed folder itself, and where it cannot be opened.
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

  // MARK: Looking

  /// What lies at a path; a link at its end is followed unless `followsLast` is `false`.
  static func status(of path: String, followsLast: Bool = true) throws(Errno) -> FileStatus {
    guard let (folder, root, rest) = place(of: path), !rest.isEmpty else {
      return try plainStatus(of: path, followsLast: followsLast)
    }
    if root.links == .none, root.followsPath, !rest.utf8.contains(0x2F), rest != ".." {
      // The only part that could be a link is the last one, which is looked at by itself.
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

  /// Lends the folder that `path` lies in, for calls that take a folder and a name in it. The result of
  /// `body`, or -1 and `errno` where the folder cannot be opened.
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

  /// Lends a path of a folder for a call that takes nothing else: it leads to the very folder that the border
  /// was kept for, whatever lies at its own path by then. -1 and `errno` where it cannot be opened.
  public static func withFolder(
    _ path: FilePath, _ body: (UnsafePointer<CChar>) -> Int32
  ) -> Int32 {
    guard enclosure(of: path.text) != nil else { return path.withPlatformString(body) }
    let folder = open(path, EnclosedFolder.pathOnly | O_DIRECTORY | O_CLOEXEC)
    guard folder >= 0 else { return -1 }
    defer { close(folder) }
    return "/proc/self/fd/\(folder)".withCString(body)
  }

  // MARK: Explaining

  /// What is said of a path that was refused: the link in its way; `nil` where there is none.
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

  /// The first part of a path that is a link.
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
  /// A path as `PathText` carries it, for people.
  fileprivate var shownPath: String { PathText.shown(self) }
}
