import CPlatform
import SystemPackage

#if canImport(Glibc)
  import Glibc
#endif

/// Basic file system operations, used by publication among others.
public enum FileSystem {
  /// Whether anything is at `path`, including a dangling link.
  public static func exists(_ path: FilePath) -> Bool {
    (try? FileStatus(of: path, followsLast: false)) != nil
  }

  public static func isFolder(_ path: FilePath) -> Bool {
    (try? FileStatus(of: path))?.kind == .folder
  }

  /// Whether there is a folder at a path that a person has named: throws where the machine fails or permission is
  /// lacking, and there may be one.
  public static func hasFolder(at path: FilePath) throws(FileError) -> Bool {
    do throws(Errno) {
      return try FileStatus(of: path).kind == .folder
    } catch {
      let error = FileError(error, path: path, operation: "look at")
      if error.leavesUnknown { throw error }
      return false
    }
  }

  /// What a symbolic link says, at most 4,096 bytes of it; `nil` for anything else.
  public static func linkText(_ path: FilePath) -> String? {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 4_096) { bytes in
      guard let start = bytes.baseAddress else { return nil }
      let count = path.withPlatformString { readlink($0, start, bytes.count) }
      return count > 0
        ? String(decoding: bytes.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self) : nil
    }
  }

  /// Whether `path` itself is a symbolic link.
  public static func isLink(_ path: FilePath) -> Bool {
    (try? FileStatus(of: path, followsLast: false))?.kind == .link
  }

  /// Creates `path` and missing folders above it. Existing folders are accepted.
  ///
  /// Another run may remove an empty parent in the meantime; it is then created again.
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
        do throws(Errno) {
          if try FileStatus(of: path).kind == .folder { return }
        } catch {
          // What is there is not known.
          if FileError.numbersOfMachine.contains(error) {
            throw FileError(error, path: path, operation: "make folder")
          }
        }
        // A file, or a folder that was just removed.
        if exists(path) { break }
      } else if failure != .noSuchFileOrDirectory || !hasParent {
        break
      }
    }
    throw EnclosedPaths.refusal(
      of: path, .tooManySymbolicLinkLevels, operation: "make folder")
      ?? FileError(failure, path: path, operation: "make folder")
  }

  /// Number of attempts before repeated removal of parents counts as an error.
  private static let mostSweeps = 100

  /// Removes a file, or a folder with its content. Never follows links at or below `path`. Does
  /// nothing if nothing is there.
  public static func remove(_ path: FilePath) throws(FileError) {
    guard exists(path), let name = path.name else { return }
    try HeldFolder.following(path.removingLastComponent()).remove(name)
  }

  /// The names in a folder, sorted, as text (`PathText`). Throws if the folder does not exist.
  public static func names(in folder: FilePath) throws(FileError) -> [String] {
    try HeldFolder(reading: folder).names()
  }

  /// Renames within one file system. Replaces a file at `to`.
  public static func rename(_ from: FilePath, to: FilePath) throws(FileError) {
    let failed = EnclosedPaths.withParent(of: from) { fromFolder, from in
      EnclosedPaths.withParent(of: to) { renameat(fromFolder, from, $0, $1) }
    }
    guard failed == 0 else {
      throw FileError(Errno(rawValue: errno), path: to, operation: "rename")
    }
  }

  /// Flushes all data of the file system of `folder`. One call per batch is much cheaper than one
  /// `fsync` per file, which costs milliseconds.
  public static func syncFileSystem(of folder: FilePath) throws(FileError) {
    try withOpen(folder) { descriptor in scanmill_sync_filesystem(descriptor) }
  }

  /// `path` as an absolute path, with links unresolved. The file need not exist.
  public static func absolute(_ path: FilePath) throws(FileError) -> FilePath {
    if path.isAbsolute { return path }
    guard let here = getcwd(nil, 0) else {
      throw FileError(Errno(rawValue: errno), path: path, operation: "find the current folder for")
    }
    defer { free(here) }
    return FilePath(platformString: here).pushing(path).lexicallyNormalized()
  }

  /// Throws if fewer than `needed` bytes are available at `path`. Reserves 1 % of the file system,
  /// at most 64 MiB. Does nothing if the space is unknown.
  public static func checkSpace(for needed: Int64, at path: FilePath) throws(FileError) {
    guard let space = try? FileSystemSpace(at: path) else { return }
    let free = space.freeBytes
    guard free - min(space.totalBytes / 100, 64 << 20) < needed else { return }
    throw FileError(
      kind: .noSpace, path: path, operation: "write",
      reason: needed > 0
        ? "\(FileError.noSpacePhrase): about \(ByteCount.text(needed)) are needed, \(ByteCount.text(free)) are free"
        : "\(FileError.noSpacePhrase): \(ByteCount.text(free)) are free",
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
