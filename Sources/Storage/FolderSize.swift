import SystemPackage

#if canImport(Glibc)
  import Glibc
#endif

/// What a file or folder takes.
public struct FolderSize: Hashable, Sendable {
  public var bytes: Int64 = 0
  public var files = 0
  /// What the file system has set aside for them: less than `bytes` where files have holes.
  public var allocatedBytes: Int64 = 0

  public init(bytes: Int64 = 0, files: Int = 0) {
    self.bytes = bytes
    self.files = files
  }

  /// All that lies at and below `path`, links themselves and not what they lead to; what cannot be
  /// looked at counts nothing.
  public init(of path: FilePath) {
    var status = stat()
    guard EnclosedPaths.look(path, &status, followsLast: false) == 0 else { return }
    if status.st_mode & S_IFMT == S_IFDIR {
      for name in (try? FileSystem.names(in: path)) ?? [] {
        self += FolderSize(of: path.appending(name))
      }
    } else {
      bytes = Int64(status.st_size)
      allocatedBytes = Int64(status.st_blocks) * 512
      files = 1
    }
  }

  public static func += (a: inout FolderSize, b: FolderSize) {
    a.bytes += b.bytes
    a.files += b.files
    a.allocatedBytes += b.allocatedBytes
  }
}
