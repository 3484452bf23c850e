import CPlatform
import SystemPackage
import Glibc

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
