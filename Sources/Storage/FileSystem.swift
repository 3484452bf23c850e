import CPlatform
import SystemPackage

#if canImport(Glibc)
  import Glibc
#endif

/// The few file system steps that publication is made of.
public enum FileSystem {
  /// Whether anything (a dangling link too) is at `path`.
  public static func exists(_ path: FilePath) -> Bool {
    var status = stat()
    return EnclosedPaths.look(path, &status, followsLast: false) == 0
  }

  public static func isFolder(_ path: FilePath) -> Bool {
    var status = stat()
    return EnclosedPaths.look(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }

  /// Whether `path` itself is a symbolic link.
  public static func isLink(_ path: FilePath) -> Bool {
    var status = stat()
    return EnclosedPaths.look(path, &status, followsLast: false) == 0
      && status.st_mode & S_IFMT == S_IFLNK
  }

  /// Makes `path` and the folders above it; a folder that exists already is fine.
  ///
  /// A folder above that another run sweeps up as empty before there is anything in it is made again.
  public static func makeFolder(_ path: FilePath) throws(FileError) {
    if isFolder(path) || path.isEmpty { return }
    let parent = path.removingLastComponent()
    let hasParent = parent != path && !parent.isEmpty
    var failure = Errno.noSuchFileOrDirectory
    for _ in 0..<mostSweeps {
      if hasParent { try makeFolder(parent) }
      if EnclosedPaths.withParent(of: path, { mkdirat($0, $1, 0o777) }) == 0 { return }
      failure = Errno(rawValue: errno)
      if failure == .fileExists {
        if isFolder(path) { return }
        // A file, or a folder that has just gone again.
        if exists(path) { break }
      } else if failure != .noSuchFileOrDirectory || !hasParent {
        break
      }
    }
    throw EnclosedPaths.refusal(
      of: path, .tooManySymbolicLinkLevels, operation: "make folder")
      ?? FileError(failure, path: path, operation: "make folder")
  }

  /// How often in a row a folder just made may be gone before something else must be wrong.
  private static let mostSweeps = 100

  /// Removes a file or a folder with all it holds, never following links at or below `path`. Absent is
  /// fine.
  public static func remove(_ path: FilePath) throws(FileError) {
    guard exists(path), let name = path.name else { return }
    try HeldFolder.following(path.removingLastComponent()).remove(name)
  }

  /// The names in a folder, sorted, as `PathText` carries them; an absent folder throws.
  public static func names(in folder: FilePath) throws(FileError) -> [String] {
    let open = try OpenFolder(reading: folder)
    do throws(Errno) {
      return try open.list().map(\.name).sorted()
    } catch {
      throw FileError(error, path: folder, operation: "list")
    }
  }

  /// Renames within one file system, replacing a file at `to`.
  public static func rename(_ from: FilePath, to: FilePath) throws(FileError) {
    let failed = EnclosedPaths.withParent(of: from) { fromFolder, from in
      EnclosedPaths.withParent(of: to) { renameat(fromFolder, from, $0, $1) }
    }
    guard failed == 0 else {
      throw FileError(Errno(rawValue: errno), path: to, operation: "rename")
    }
  }

  /// Renames within one file system to a name that nothing has yet.
  public static func renameNew(_ from: FilePath, to: FilePath) throws(FileError) {
    let code = EnclosedPaths.withParent(of: from) { fromFolder, from in
      EnclosedPaths.withParent(of: to) { scanmill_rename_new_entry(fromFolder, from, $0, $1) }
    }
    guard code == 0 else {
      throw FileError(Errno(rawValue: code < 0 ? errno : code), path: to, operation: "publish")
    }
  }

  /// Exchanges two paths of one file system in one step. `false`, and nothing done, where the file
  /// system cannot (NFS).
  public static func exchange(_ a: FilePath, _ b: FilePath) throws(FileError) -> Bool {
    let code = a.withPlatformString { a in
      b.withPlatformString { b in scanmill_exchange_paths(a, b) }
    }
    if code == EINVAL || code == ENOSYS || code == EOPNOTSUPP { return false }
    guard code == 0 else {
      throw FileError(Errno(rawValue: code), path: b, operation: "publish")
    }
    return true
  }

  /// Flushes all data written to the file system of `folder`: one call per batch of files is nearly
  /// free where one `fsync` per file costs milliseconds.
  public static func syncFileSystem(of folder: FilePath) throws(FileError) {
    try withOpen(folder) { descriptor in scanmill_sync_filesystem(descriptor) }
  }

  /// `path` from the root, links in it left as they are. Needs no file to be there.
  public static func absolute(_ path: FilePath) throws(FileError) -> FilePath {
    if path.isAbsolute { return path }
    guard let here = getcwd(nil, 0) else {
      throw FileError(Errno(rawValue: errno), path: path, operation: "find the current folder for")
    }
    defer { free(here) }
    return FilePath(platformString: here).pushing(path).lexicallyNormalized()
  }

  /// Bytes that this user may still write on the file system of `path`; `nil` when it cannot be told.
  public static func freeBytes(at path: FilePath) -> Int64? {
    var status = statvfs()
    guard path.withPlatformString({ statvfs($0, &status) }) == 0 else { return nil }
    return Int64(
      clamping: UInt64(status.f_bavail).multipliedReportingOverflow(
        by: UInt64(status.f_frsize)
      ).partialValue)
  }

  /// Throws when fewer than `needed` bytes may be written at `path`, keeping back a hundredth of the
  /// file system, at most 64 MiB. Where the space cannot be told, nothing happens.
  public static func checkSpace(for needed: Int64, at path: FilePath) throws(FileError) {
    var status = statvfs()
    guard path.withPlatformString({ statvfs($0, &status) }) == 0, let free = freeBytes(at: path)
    else { return }
    let (total, overflow) = UInt64(status.f_blocks).multipliedReportingOverflow(
      by: UInt64(status.f_frsize))
    let reserve = overflow ? 64 << 20 : Int64(min(total / 100, 64 << 20))
    guard free - reserve < needed else { return }
    throw FileError(
      kind: .noSpace, path: path, operation: "write",
      reason: needed > 0
        ? "no space left: about \(ByteCount.text(needed)) are needed, \(ByteCount.text(free)) are free"
        : "no space left: \(ByteCount.text(free)) are free",
      remedy: FileError.spaceRemedy)
  }

  private static func withOpen(
    _ folder: FilePath, _ body: (Int32) -> Int32
  ) throws(FileError) {
    let descriptor = EnclosedPaths.open(folder, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      throw FileError(Errno(rawValue: errno), path: folder, operation: "open")
    }
    defer { close(descriptor) }
    let code = body(descriptor)
    guard code == 0 else {
      throw FileError(Errno(rawValue: code), path: folder, operation: "flush")
    }
  }
}
