import Engine
import Core
import SystemPackage

/// Waits for changes in STAGING, for calls from other threads and for time to pass. Only the watcher's thread waits;
/// others call `wake` on the pipe.
final class ChangeWaiter {
  private let notices = INotifyWatcher()
  private let wakePipe: WakePipe

  init(_ wakePipe: WakePipe) { self.wakePipe = wakePipe }

  /// Whether the kernel tells of changes; else only scans find them.
  var hasNotices: Bool { notices != nil }

  /// Has the kernel tell of changes in these folders and no others. What keeps it from telling of all, for people.
  func watch(_ folders: Set<FilePath>) -> String? {
    notices?.watch(folders)
    return notices?.limit
  }

  /// Waits at most so long. Whether something in STAGING has changed.
  func wait(seconds: Double) -> Bool {
    guard let notices else {
      wakePipe.wait(seconds: seconds)
      return false
    }
    _ = notices.wait(seconds: seconds, orReadable: wakePipe.descriptor)
    wakePipe.drain()
    return notices.hasChanged
  }

  /// Waits at most so long for a call from another thread; changes in STAGING do not count.
  func waitForWake(seconds: Double) { wakePipe.wait(seconds: seconds) }
}
