import SystemPackage

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
    guard let found = try? FileStatus(of: path, followsLast: false) else { return }
    if found.kind == .folder {
      for name in (try? FileSystem.names(in: path)) ?? [] {
        self += FolderSize(of: path.appending(name))
      }
    } else {
      bytes = found.bytes
      allocatedBytes = found.allocatedBytes
      files = 1
    }
  }

  public static func += (a: inout FolderSize, b: FolderSize) {
    a.bytes += b.bytes
    a.files += b.files
    a.allocatedBytes += b.allocatedBytes
  }
}
