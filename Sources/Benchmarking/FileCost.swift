import Core
import SystemPackage

#if canImport(Glibc)
  import Glibc
#endif

/// File sizes and the page cache.
public enum FileCost {
  /// Bytes of the files that exist, each counted once.
  public static func bytes(of files: some Sequence<FilePath>) -> Int64 {
    Set(files.map(\.string)).reduce(0) {
      $0 + ((try? FileIdentity(of: FilePath($1)).bytes) ?? 0)
    }
  }

  /// Bytes of all regular files in a folder, recursively; links are not followed.
  public static func bytes(inFolder folder: FilePath) -> Int64 {
    var total: Int64 = 0
    for name in (try? FileSystem.names(in: folder)) ?? [] {
      let path = folder.appending(name)
      if FileSystem.isLink(path) { continue }
      total +=
        FileSystem.isFolder(path)
        ? bytes(inFolder: path) : (try? FileIdentity(of: path).bytes) ?? 0
    }
    return total
  }

  /// Requests that the kernel drops the files from the page cache, after writing dirty pages. Needs
  /// only permission to read. Pages that another process has mapped stay.
  static func dropFromCache(_ files: some Sequence<FilePath>) {
    for path in files {
      guard let file = try? EnclosedPaths.openForReading(path) else {
        continue
      }
      fsync(file.rawValue)
      posix_fadvise(file.rawValue, 0, 0, POSIX_FADV_DONTNEED)
      try? file.close()
    }
  }
}
