import Engine
import Core
import SystemPackage

/// Tests whether a lock that the supervisor holds can be taken from another machine. If so, the
/// file system keeps locks local to a machine or mount.
enum LockProbe {
  /// Holds the lock for the lifetime of the result. `nil` if the lock file cannot be created or
  /// locked. On a file system without locks the result excludes no process (`FileLock.refusal`),
  /// and `canTake` is true everywhere.
  static func hold(in folder: HeldFolder, run: String) -> FileLock? {
    try? FileLock(in: folder, name: RunFiles.probeName, holder: "supervisor of \(run)") { _ in false
    }
  }

  /// Whether the lock could be taken; `nil` if there is no file to test.
  static func canTake(in folder: HeldFolder) -> Bool? {
    guard let there = try? folder.entry(RunFiles.probeName), there.kind == .file else { return nil }
    return !FileLock.isHeld(at: folder.path.appending(RunFiles.probeName))
  }
}
