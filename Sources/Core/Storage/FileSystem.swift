import SystemPackage
import Glibc

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
          // A device error does not tell whether the folder exists.
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
  ///
  /// - Parameter expected: what the error says is needed where that is more; asked for only then.
  public static func checkSpace(
    for needed: Int64, at path: FilePath, expected: () -> Int64 = { 0 }
  ) throws(FileError) {
    guard let space = try? FileSystemSpace(at: path) else { return }
    let free = space.freeBytes
    guard free - min(space.totalBytes / 100, 64 << 20) < needed else { return }
    throw FileError(
      kind: .noSpace, path: path, operation: "write",
      reason: needed > 0
        ? "\(FileError.noSpacePhrase): about \(ByteCount.text(max(needed, expected()))) are needed, \(ByteCount.text(free)) are free"
        : "\(FileError.noSpacePhrase): \(ByteCount.text(free)) are free",
      remedy: FileError.spaceRemedy)
  }
}

/// Sizes as readable text.
public enum ByteCount {
  /// Uses powers of 1000 and three digits: `0 bytes`, `17 bytes`, `1.20 MB`, `35.0 GB`.
  public static func text(_ bytes: Int64) -> String {
    var value = Double(bytes)
    var unit = 0
    let units = ["bytes", "kB", "MB", "GB", "TB", "PB"]
    // Compares the rounded value: 999.96 kB would be shown as 1000 kB.
    while value >= 999.5, unit + 1 < units.count {
      value /= 1000
      unit += 1
    }
    if unit == 0 { return Plural.text(bytes, "byte") }
    let digits = value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2
    let scale = [1.0, 10, 100][digits]
    let whole = Int64((value * scale).rounded())
    let text = "\(whole)"
    if digits == 0 { return "\(text) \(units[unit])" }
    return "\(text.dropLast(digits)).\(text.suffix(digits)) \(units[unit])"
  }
}

/// Numbers with the word for what they count.
public enum Plural {
  /// `1 capture`, `2 captures`, `0 captures`.
  ///
  /// - Parameter many: by default `one` with an `s`.
  public static func text(
    _ number: some BinaryInteger, _ one: String, _ many: String? = nil
  ) -> String {
    "\(number) \(word(number, one, many))"
  }

  /// The word alone: `capture`, `captures`.
  public static func word(
    _ number: some BinaryInteger, _ one: String, _ many: String? = nil
  ) -> String {
    number == 1 ? one : many ?? one + "s"
  }
}

/// Total and free space of a file system. Values are limited to `Int64.max`.
public struct FileSystemSpace: Hashable, Sendable {
  /// Available to this user: without the space reserved for root.
  public let freeBytes: Int64
  public let totalBytes: Int64
  /// How many more files can be created; `nil` if the file system does not limit the number.
  public let freeFiles: Int64?
  public let totalFiles: Int64?

  /// Bytes that a watcher leaves free without `--reserve`: 1 GiB or 2 %, whichever is less.
  public var usualReserve: Int64 { Self.usualReserve(ofTotal: totalBytes) }

  public static func usualReserve(ofTotal bytes: Int64) -> Int64 { min(1 << 30, bytes / 50) }

  /// The file system of `path`. Cost: one system call.
  public init(at path: FilePath) throws(Errno) {
    var status = statvfs()
    guard path.withPlatformString({ statvfs($0, &status) }) == 0 else {
      throw Errno(rawValue: errno)
    }
    let unit = UInt64(status.f_frsize)
    func bytes(_ blocks: UInt) -> Int64 {
      let (product, overflow) = UInt64(blocks).multipliedReportingOverflow(by: unit)
      return overflow ? .max : Int64(clamping: product)
    }
    freeBytes = bytes(status.f_bavail)
    totalBytes = bytes(status.f_blocks)
    let countsFiles = status.f_files != 0
    freeFiles = countsFiles ? Int64(clamping: status.f_favail) : nil
    totalFiles = countsFiles ? Int64(clamping: status.f_files) : nil
  }
}
