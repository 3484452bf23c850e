import SystemPackage

/// The size of a file or folder.
public struct FolderSize: Hashable, Sendable {
  public var bytes: Int64 = 0
  public var files = 0
  /// Allocated bytes: less than `bytes` if files have holes.
  public var allocatedBytes: Int64 = 0

  public init(bytes: Int64 = 0, files: Int = 0) {
    self.bytes = bytes
    self.files = files
  }

  /// The size of everything at and below `path`. Links are counted but not followed. Entries that
  /// cannot be inspected are not counted: sizes are shown, and waited by, and nothing is decided by them.
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
