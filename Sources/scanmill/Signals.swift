import Engine
import Core
import Synchronization
import Glibc

/// The first SIGINT, SIGTERM or SIGHUP ends the run within its grace period, the second aborts
/// running work, the third ends the process.
///
/// A dedicated thread waits for signals from the start, so that a later lack of resources cannot
/// keep the program from ending. If this thread cannot be started, signals have their default
/// effect.
final class Signals: Sendable {
  private let first = Mutex<Int32?>(nil)
  private let interruption: Interruption
  private let graceSeconds: Double
  private let clock: RunClock
  private let beforeForcedEnd: @Sendable (Int) -> Void
  private let onRequest: @Sendable () -> Void
  /// The action of SIGHUP; `nil` to handle it like SIGTERM.
  private let onHangUp: (@Sendable () -> Void)?

  /// How long after the grace the process itself may take to say how things stand.
  private let lastWordsSeconds: Double

  /// Starts waiting for signals. Must be called before other threads are started, because they
  /// inherit the blocked signals.
  ///
  /// - Parameters:
  ///   - lastWordsSeconds: after the grace, before it is ended by force.
  ///   - beforeForcedEnd: called with the exit code when the process must end at once.
  ///   - onRequest: called after the first signal that asks for the end.
  ///   - onHangUp: what SIGHUP means; by default the same as SIGTERM.
  init(
    _ interruption: Interruption, graceSeconds: Double, _ clock: RunClock,
    lastWordsSeconds: Double = 5,
    beforeForcedEnd: @escaping @Sendable (Int) -> Void = { _ in },
    onRequest: @escaping @Sendable () -> Void = {}, onHangUp: (@Sendable () -> Void)? = nil
  ) {
    self.lastWordsSeconds = lastWordsSeconds
    self.onRequest = onRequest
    self.onHangUp = onHangUp
    self.beforeForcedEnd = beforeForcedEnd
    self.interruption = interruption
    self.graceSeconds = graceSeconds
    self.clock = clock
    var held = sigset_t()
    sigemptyset(&held)
    for number in [SIGINT, SIGTERM] { sigaddset(&held, number) }
    // `nohup` ignores SIGHUP, which is respected.
    if !SignalName.isIgnored(SIGHUP) { sigaddset(&held, SIGHUP) }
    pthread_sigmask(SIG_BLOCK, &held, nil)
    let set = held
    if !JobThread.start({ [self] in listen(for: set) }) {
      pthread_sigmask(SIG_UNBLOCK, &held, nil)
    }
  }

  /// The exit code for the received signal; SIGHUP counts as SIGTERM.
  var exitCode: Int? {
    first.withLock { $0 }.map { $0 == SIGINT ? ExitStatus.interrupted : ExitStatus.terminated }
  }

  private func listen(for signals: sigset_t) {
    var signals = signals
    var count = 0
    var graceEnds = Double.infinity
    while true {
      // Wakes up once a second, which is precise enough for limits of seconds.
      var second = timespec(tv_sec: 1, tv_nsec: 0)
      let number = sigtimedwait(&signals, nil, &second)
      let now = clock.monotonicSeconds()
      if number == SIGHUP, let onHangUp {
        onHangUp()
      } else if number > 0 {
        count += 1
        first.withLock { $0 = $0 ?? number }
        switch count {
        case 1:
          interruption.request(graceSeconds: graceSeconds, clock: clock)
          graceEnds = now + graceSeconds
          Console.error(
            "stopping: nothing more is started; interrupt again to stop what is running")
          onRequest()
        case 2: interruption.abort.cancel("interrupted")
        default: end()
        }
      }
      if now >= graceEnds { interruption.abort.cancel("interrupted") }
      if now >= graceEnds + lastWordsSeconds { end() }
    }
  }

  private func end() -> Never {
    let code = exitCode ?? ExitStatus.terminated
    beforeForcedEnd(code)
    ErrorOutput.standard.flush()
    _exit(Int32(code))
  }
}
