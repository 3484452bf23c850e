import Core
import SystemPackage

#if canImport(Glibc)
  import Glibc
#endif

/// A temporary folder of an array task on the node's own disk. It is removed when the task ends.
struct ArrayTaskScratch {
  let path: FilePath

  /// Creates a folder with mode 0700 and a name that contains the job. Its parent is the job's
  /// folder from the batch system, else `TMPDIR`, else `/tmp`. `nil` if it cannot be created; all
  /// files are then in the output.
  init?(_ place: TaskEnvironment) {
    let general = getenv("TMPDIR").map { String(cString: $0) }.flatMap {
      $0.hasPrefix("/") ? $0 : nil
    }
    let base = place.scratch ?? general ?? "/tmp"
    let random = UInt32.random(in: 0 ... .max)
    let path = FilePath(base).appending("scanmill-\(place.job)-\(random)")
    guard path.withPlatformString({ mkdir($0, 0o700) }) == 0 else { return nil }
    self.path = path
  }

  /// Files that cannot be removed remain for the site's own cleanup.
  func remove() {
    guard let parent = try? HeldFolder.following(path.removingLastComponent()),
      let name = path.lastComponent?.string
    else { return }
    try? parent.remove(name)
  }
}
