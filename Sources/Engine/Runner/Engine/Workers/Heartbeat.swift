import Synchronization

/// Passes on that a worker's work goes on: when the number that counts it has changed, and not more often than twice
/// a second. Called by the thread that does or judges the work, never by one of its own: what stands still is silent.
final class Heartbeat: Sendable {
  private let state = Mutex<(signs: Int, seconds: Double, waits: Int)>((0, -.infinity, 0))
  private let clock: RunClock
  private let tell: @Sendable (Int) -> Void

  init(clock: RunClock = .system, _ tell: @escaping @Sendable (Int) -> Void) {
    self.clock = clock
    self.tell = tell
  }

  /// What has been done by now; any other number than before is a sign of life.
  func beat(_ signs: Int) {
    let now = clock.monotonicSeconds()
    let new = state.withLock { state -> Int? in
      let sum = signs &+ state.waits
      guard sum != state.signs, now - state.seconds >= 0.5 else { return nil }
      state.signs = sum
      state.seconds = now
      return sum
    }
    if let new { tell(new) }
  }

  /// Waits for something that is not ours to hurry: a lock, a pause before another attempt.
  func wait() {
    let signs = state.withLock { state in
      state.waits &+= 1
      return state.signs
    }
    // The sum is another one now.
    beat(signs &+ 1)
  }
}
