import Synchronization

/// The wish that a run ends: at first nothing more starts and what is nearly done may end, then what
/// runs is stopped.
public final class Interruption: Sendable {
  /// Stops running stages at their next frame.
  public let abort: Cancellation
  /// On the monotonic clock.
  private let deadlineSeconds = Mutex<Double?>(nil)

  public init(abort: Cancellation = Cancellation()) {
    self.abort = abort
  }

  /// From now on nothing starts. Stages that will be done within `graceSeconds` may end; the first
  /// request counts.
  public func request(graceSeconds: Double, clock: RunClock) {
    let deadline = clock.monotonicSeconds() + max(0, graceSeconds)
    deadlineSeconds.withLock { $0 = $0 ?? deadline }
  }

  public var isRequested: Bool {
    abort.isCancelled || deadlineSeconds.withLock { $0 != nil }
  }

  /// How long stages may still take; `nil` before a request, 0 when everything is to stop.
  public func secondsLeft(_ clock: RunClock) -> Double? {
    if abort.isCancelled { return 0 }
    return deadlineSeconds.withLock { $0 }.map { max(0, $0 - clock.monotonicSeconds()) }
  }
}
