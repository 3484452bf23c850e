import CPlatform
import SystemPackage

#if canImport(Glibc)
  import Glibc
#endif

/// A folder, held open, that nothing opened through it leads out of: neither a link nor `..`.
///
/// The kernel keeps the border while it walks the path (`openat2`), so there is no moment between a look and
/// the use in which a link could be put in the way. What leads out is not opened, not listed, not looked at.
public final class EnclosedFolder: Sendable {
  /// What happens at a link below the folder.
  public enum Links: Sendable {
    /// Followed as long as it leads somewhere inside; an absolute one too. Else `EXDEV`. For captures.
    case inside
    /// Never followed: `ELOOP`. For outputs.
    case none
  }

  public let path: FilePath
  let links: Links
  let descriptor: Int32

  /// Holds `path`.
  ///
  /// - Parameter followsPath: links on the way to the folder, and at its end, are followed as far as
  ///   `EnclosedPaths` allows: the user named it. `false`: the path is known to have none, and one that is
  ///   there now is refused.
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

  /// Opens a path relative to the folder (`.`: the folder itself), as `openat` does.
  ///
  /// - Returns: a descriptor, or an error number as a negative one: `EXDEV` for what leads out, `ELOOP` for
  ///   links that are not followed or go in a circle.
  func open(_ relative: String, _ flags: Int32, mode: mode_t = 0) -> Int32 {
    let rest = relative.isEmpty ? "." : relative
    let opened = step(rest, flags, mode, followsLinks: links == .inside)
    guard opened == -EXDEV, links == .inside, let real = realRest(rest) else { return opened }
    // A link that goes out and comes back, or an absolute one, which the kernel takes for one that leads out.
    return step(real, flags, mode, followsLinks: false)
  }

  /// A folder in it, or it itself (`.`), for reading and listing. Throws what keeps it from being read.
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

  /// A seam for tests: as where the kernel has no `openat2`.
  @TaskLocal package static var walks = false

  /// Where a path that ends inside leads, relative to the folder and without links; `nil` for what ends
  /// elsewhere or nowhere. Reads links and opens nothing.
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

  // MARK: Looking

  /// What a path leads to, links followed as far as they may be.
  public enum Found: Sendable {
    case file(FileStamp)
    case folder
    /// A pipe, a device, a socket.
    case other
    /// Something that lies outside.
    case outside
    /// Something that may not be looked at.
    case forbidden
    case nothing
  }

  /// Looks at what a path relative to the folder leads to. Nothing is opened, nothing outside is looked at.
  public func look(at relative: String) -> Found {
    let found: FileStatus
    do throws(Errno) {
      found = try status(of: relative)
    } catch {
      switch error {
      case .improperLink:
        // One that leads to nothing counts as nothing, wherever it leads.
        let leads = Self.real(path.pushing(FilePath(text: relative))) != nil
        return leads || errno == EACCES ? .outside : .nothing
      case .tooManySymbolicLinkLevels where links == .none: return .outside
      case .permissionDenied, .notPermitted: return .forbidden
      default: return .nothing
      }
    }
    return switch found.kind {
    case .file: .file(found.stamp)
    case .folder: .folder
    case .link, .other: .other
    }
  }

  /// The stamp of a regular file that lies inside; `nil` for anything else.
  public func stamp(of relative: String) -> FileStamp? {
    if case .file(let stamp) = look(at: relative) { stamp } else { nil }
  }

  /// Throws `improperLink` for what leads out.
  func status(of relative: String, followsLast: Bool = true) throws(Errno) -> FileStatus {
    let handle = open(relative, Self.pathOnly | O_CLOEXEC | (followsLast ? 0 : O_NOFOLLOW))
    guard handle >= 0 else { throw Errno(rawValue: -handle) }
    defer { close(handle) }
    return try FileStatus(FileDescriptor(rawValue: handle))
  }

  /// `O_PATH`, which the module of the C library leaves out; the same on every Linux machine that Swift
  /// runs on.
  static let pathOnly: Int32 = 0o10_000_000

  private static func result(_ opened: Int32) -> Int32 { opened >= 0 ? opened : -errno }
}
