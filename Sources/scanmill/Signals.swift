import Dispatch
import Pipeline
import Runner
import Synchronization

#if canImport(Glibc)
  import Glibc
#endif

/// The first SIGINT or SIGTERM stops starting work and lets what runs end; the second ends the process.
final class Signals {
  private let handler: SignalHandler
  private let sources: [any DispatchSourceSignal]

  /// Listens until it is released.
  init(cancelling cancellation: Cancellation, graceSeconds: Double) {
    let heard = SignalHandler(cancellation, graceSeconds: graceSeconds)
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
  private let first = Mutex<Int32?>(nil)
  private let cancellation: Cancellation
  private let graceSeconds: Double

  init(_ cancellation: Cancellation, graceSeconds: Double) {
    self.cancellation = cancellation
    self.graceSeconds = graceSeconds
  }

  var exitCode: Int? { first.withLock { $0 }.map { 128 + Int($0) } }

  func hear(_ number: Int32) {
    let isSecond = first.withLock { first in
      defer { first = first ?? number }
      return first != nil
    }
    if isSecond { _exit(128 + number) }
    Console.error("stopping: waiting for running stages; once more to end at once")
    cancellation.cancel("interrupted")
    DispatchQueue.global().asyncAfter(deadline: .now() + graceSeconds) { _exit(128 + number) }
  }
}
