import Synchronization

/// Counts what several threads have done.
final class Counter: Sendable {
  private let done = Mutex(0)
  private let all: Int
  private let progress: @Sendable (Int, Int) -> Void

  init(_ all: Int, _ progress: @escaping @Sendable (Int, Int) -> Void) {
    self.all = all
    self.progress = progress
  }

  func add() {
    let now = done.withLock { count in
      count += 1
      return count
    }
    progress(now, all)
  }
}
