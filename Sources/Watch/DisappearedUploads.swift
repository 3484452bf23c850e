import Captures
import Engine
import Core

/// Uploads that went before anything of them was done. Memory: a bounded number of them.
struct DisappearedUploads: Sendable {
  /// Oldest first.
  private(set) var last: [WatchRecord.Disappearance]
  /// How many, since the first watcher.
  private(set) var total: Int
  /// Uploads that have not been told yet.
  private var untold: [WatchRecord.Disappearance] = []

  private static let most = 1_000

  /// Goes on with what the last watcher noted.
  init(_ previous: WatchRecord?) {
    last = previous?.disappeared ?? []
    total = previous?.disappearedTotal ?? 0
  }

  mutating func add(_ id: String, _ location: CaptureLocation, time: String) {
    let found = WatchRecord.Disappearance(id: id, path: location.path.text, time: time)
    total += 1
    last.append(found)
    untold.append(found)
    if last.count > Self.most { last.removeFirst() }
    if untold.count > Self.most { untold.removeFirst() }
  }

  /// Forgets those that went before this time (UTC, ISO 8601). The total stays.
  mutating func forget(before time: String) { last.removeAll { $0.time < time } }

  /// The uploads that came since this was last asked.
  mutating func takeUntold() -> [WatchRecord.Disappearance] {
    defer { untold = [] }
    return untold
  }
}
