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
  ///
  /// Cost: one system call per file, and one descriptor at a time.
  public init(of path: FilePath) {
    guard let found = try? FileStatus(of: path, followsLast: false) else { return }
    guard found.kind == .folder else {
      add(found)
      return
    }
    var folders = [path]
    while let next = folders.popLast() {
      guard let folder = HeldFolder(next, followsLast: false) else { continue }
      for (name, kind) in (try? folder.list()) ?? [] {
        if kind == .folder {
          folders.append(next.appending(name: name))
        } else if let found = folder.status(of: name) {
          add(found)
        }
      }
    }
  }

  private mutating func add(_ file: FileStatus) {
    bytes += file.bytes
    allocatedBytes += file.allocatedBytes
    files += 1
  }

  public static func += (a: inout FolderSize, b: FolderSize) {
    a.bytes += b.bytes
    a.files += b.files
    a.allocatedBytes += b.allocatedBytes
  }
}
