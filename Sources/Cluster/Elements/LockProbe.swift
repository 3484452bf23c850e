import Output
import Runner
import Storage
import SystemPackage

/// Finds out whether a lock that the supervisor holds can be taken elsewhere: then the file system keeps
/// locks to one machine or mount.
enum LockProbe {
  /// Holds the lock for as long as the value lives. `nil` where the file system has no locks at all, which
  /// is then known as well.
  static func hold(in folder: HeldFolder, run: String) -> FileLock? {
    try? FileLock(in: folder, name: RunFiles.probeName, holder: "supervisor of \(run)") { _ in false
    }
  }

  /// Whether the lock could be taken; `nil` when that cannot be told.
  static func canTake(in folder: HeldFolder) -> Bool? {
    guard let there = try? folder.entry(RunFiles.probeName), there.kind == .file else { return nil }
    return !FileLock.isHeld(at: folder.path.appending(RunFiles.probeName))
  }
}
