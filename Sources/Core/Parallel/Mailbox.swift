import Dispatch
import Synchronization

/// A queue to which many threads add messages and from which one thread takes them.
public final class Mailbox<Message: Sendable>: Sendable {
  private let waiting = DispatchSemaphore(value: 0)
  private let messages = Mutex<[Message]>([])

  public init() {}

  public func put(_ message: Message) {
    messages.withLock { $0.append(message) }
    waiting.signal()
  }

  /// Removes the oldest message; waits for one if there is none.
  public func take() -> Message {
    while true {
      waiting.wait()
      if let message = messages.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) { return message }
    }
  }

  /// Removes the oldest message; `nil` if none arrives within `seconds`.
  public func take(withinSeconds seconds: Double) -> Message? {
    guard waiting.wait(timeout: .now() + seconds) == .success else { return nil }
    return messages.withLock { $0.isEmpty ? nil : $0.removeFirst() }
  }
}
