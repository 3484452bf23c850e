import Engine
import Core
import SystemPackage

/// What is free on a file system.
struct FreeSpaceRule: Hashable {
  /// For this user: without what is kept for root.
  var bytes: Int64
  var totalBytes: Int64
  /// `nil`: the file system counts none.
  var inodes: Int64?
  var totalInodes: Int64?
  /// What stays free, as `--reserve` says; `nil`: 1 GiB or 2 % of the file system, whichever is less.
  var reserve: Int64?

  /// Free space of the file system that `path` lies on, or will lie on once it is made; `nil` where it cannot be told.
  static func free(of path: FilePath, reserve: Int64? = nil) -> FreeSpaceRule? {
    var place = path.isEmpty ? FilePath(".") : path
    while true {
      do throws(Errno) {
        let space = try FileSystemSpace(at: place)
        return FreeSpaceRule(
          bytes: space.freeBytes, totalBytes: space.totalBytes, inodes: space.freeFiles,
          totalInodes: space.totalFiles, reserve: reserve)
      } catch {
        guard error == .noSuchFileOrDirectory else { return nil }
      }
      // The folder does not exist yet: its nearest existing parent is measured.
      if place.components.isEmpty { return nil }
      place = place.removingLastComponent()
      if place.isEmpty { place = "." }
    }
  }

  /// What must be free before anything new is started, and stays free of what captures are expected to write.
  var neededBytes: Int64 { reserve ?? FileSystemSpace.usualReserve(ofTotal: totalBytes) }

  /// Files that must be free: a capture writes one per frame and kind. 10,000 or 2 %, whichever is less.
  var neededInodes: Int64 { min(10_000, (totalInodes ?? Int64.max) / 50) }

  /// Whether something new may be started.
  var isEnough: Bool {
    bytes >= neededBytes && (inodes.map { $0 >= max(1, neededInodes) } ?? true)
  }
}
