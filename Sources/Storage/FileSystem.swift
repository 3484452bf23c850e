import CPlatform
import SystemPackage

#if canImport(Glibc)
  import Glibc
#endif

/// The few file system steps that publication is made of.
public enum FileSystem {
  /// Whether anything (a dangling link too) is at `path`.
  public static func exists(_ path: FilePath) -> Bool {
    (try? FileStatus(of: path, followsLast: false)) != nil
  }

  public static func isFolder(_ path: FilePath) -> Bool {
    (try? FileStatus(of: path))?.kind == .folder
  }

  /// Whether `path` itself is a symbolic link.
  public static func isLink(_ path: FilePath) -> Bool {
    (try? FileStatus(of: path, followsLast: false))?.kind == .link
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
    try HeldFolder(reading: folder).names()
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

  /// Throws when fewer than `needed` bytes may be written at `path`, keeping back a hundredth of the
  /// file system, at most 64 MiB. Where the space cannot be told, nothing happens.
  public static func checkSpace(for needed: Int64, at path: FilePath) throws(FileError) {
    guard let space = try? FileSystemSpace(at: path) else { return }
    let free = space.freeBytes
    guard free - min(space.totalBytes / 100, 64 << 20) < needed else { return }
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
