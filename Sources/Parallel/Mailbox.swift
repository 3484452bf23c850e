import Dispatch
import Synchronization

/// A queue that threads put messages into and one thread takes them from.
public final class Mailbox<Message: Sendable>: Sendable {
  private let waiting = DispatchSemaphore(value: 0)
  private let messages = Mutex<[Message]>([])

  public init() {}

  public func put(_ message: Message) {
    messages.withLock { $0.append(message) }
    waiting.signal()
  }

  /// The oldest message; waits for one.
  public func take() -> Message {
    while true {
      waiting.wait()
      if let message = messages.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) { return message }
    }
  }

  /// The oldest message, or `nil` if none comes within `seconds`.
  public func take(withinSeconds seconds: Double) -> Message? {
    guard waiting.wait(timeout: .now() + seconds) == .success else { return nil }
    return messages.withLock { $0.isEmpty ? nil : $0.removeFirst() }
  }
}
