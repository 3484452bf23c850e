import Storage
import SystemPackage

#if canImport(Glibc)
  import Glibc
#endif

/// A folder of an element on its node's own disk, gone when it ends.
struct ArrayTaskScratch {
  let path: FilePath

  /// Below the folder that the batch system gives the job, else below `TMPDIR`, else `/tmp`, under a name
  /// of the job's own that nobody else may look into. `nil` where none can be made: then everything lies in
  /// the output, as without it.
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

  /// What cannot be removed is left to whoever cleans the node.
  func remove() {
    guard let parent = try? HeldFolder.following(path.removingLastComponent()),
      let name = path.lastComponent?.string
    else { return }
    try? parent.remove(name)
  }
}
