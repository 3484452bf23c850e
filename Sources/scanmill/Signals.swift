import Dispatch
import Pipeline
import Runner
import Synchronization

#if canImport(Glibc)
  import Glibc
#endif

/// The first SIGINT or SIGTERM lets the run come to an end within its grace, the second stops what runs,
/// the third ends the process.
final class Signals {
  private let handler: SignalHandler
  private let sources: [any DispatchSourceSignal]

  /// Listens until it is released.
  ///
  /// - Parameter beforeForcedEnd: called with the exit code when the process must end at once.
  init(
    _ interruption: Interruption, graceSeconds: Double, _ clock: RunClock,
    beforeForcedEnd: @escaping @Sendable (Int) -> Void = { _ in }
  ) {
    let heard = SignalHandler(
      interruption, graceSeconds: graceSeconds, clock, beforeForcedEnd: beforeForcedEnd)
    handler = heard
    sources = [SIGINT, SIGTERM].map { number in
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler { heard.hear(number) }
      source.resume()
      return source
    }
  }

  /// The exit code that a received signal asks for.
  var exitCode: Int? { handler.exitCode }
}

private final class SignalHandler: Sendable {
  private let heard = Mutex<[Int32]>([])
  private let interruption: Interruption
  private let graceSeconds: Double
  private let clock: RunClock
  private let beforeForcedEnd: @Sendable (Int) -> Void

  /// How long after the grace the process itself may take to say how things stand.
  private static let lastWordsSeconds = 5.0

  init(
    _ interruption: Interruption, graceSeconds: Double, _ clock: RunClock,
    beforeForcedEnd: @escaping @Sendable (Int) -> Void = { _ in }
  ) {
    self.beforeForcedEnd = beforeForcedEnd
    self.interruption = interruption
    self.graceSeconds = graceSeconds
    self.clock = clock
  }

  var exitCode: Int? { heard.withLock { $0.first }.map { 128 + Int($0) } }

  func hear(_ number: Int32) {
    let count = heard.withLock { heard in
      heard.append(number)
      return heard.count
    }
    let code = exitCode ?? Int(number) + 128
    switch count {
    case 1:
      Console.error("stopping: nothing more starts; once more to stop what runs")
      interruption.request(graceSeconds: graceSeconds, clock: clock)
      DispatchQueue.global().asyncAfter(deadline: .now() + graceSeconds) { [interruption] in
        interruption.abort.cancel("interrupted")
      }
      DispatchQueue.global().asyncAfter(
        deadline: .now() + graceSeconds + Self.lastWordsSeconds
      ) { self.endNow(code) }
    case 2: interruption.abort.cancel("interrupted")
    default: endNow(code)
    }
  }

  private func endNow(_ code: Int) -> Never {
    beforeForcedEnd(code)
    _exit(Int32(code))
  }
}
