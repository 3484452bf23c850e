import Dispatch
import Synchronization
import Glibc

/// Runs blocking work on a thread of its own.
public enum JobThread {
  /// Starts `body` on a new detached thread. Returns `false`, and does nothing, when the system
  /// cannot create one; what to do then is up to the caller.
  public static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
    let box = Unmanaged.passRetained(JobHandle(body))
    var thread = pthread_t()
    let code = pthread_create(
      &thread, nil,
      { argument in
        guard let argument else { return nil }
        Unmanaged<JobHandle>.fromOpaque(argument).takeRetainedValue().body()
        return nil
      }, box.toOpaque())
    guard code == 0 else {
      box.release()
      return false
    }
    pthread_detach(thread)
    return true
  }

  private final class JobHandle: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }
}

/// Reusable threads, each of which runs one job at a time. The first is created with the pool, so
/// that one job can always run even if threads run out later.
public final class ThreadPool: Sendable {
  /// The pool of this process; `nil` if no thread could be created.
  public static let shared = ThreadPool()

  private let orders = Mailbox<@Sendable () -> Void>()
  private let state: Mutex<(threads: Int, busy: Int)>

  /// `nil` if no thread can be created.
  public init?() {
    state = Mutex((1, 0))
    guard member() else { return nil }
  }

  /// Runs `body` on a free thread of the pool, or on a new one if all are busy. Returns `false`,
  /// and does nothing, when no thread can be created.
  public func start(_ body: @escaping @Sendable () -> Void) -> Bool {
    let mustGrow = state.withLock { state in
      state.busy += 1
      guard state.busy > state.threads else { return false }
      state.threads += 1
      return true
    }
    if mustGrow, !member() {
      state.withLock { state in
        state.threads -= 1
        state.busy -= 1
      }
      return false
    }
    orders.put(body)
    return true
  }

  private func member() -> Bool {
    JobThread.start { [self] in
      while true {
        orders.take()()
        state.withLock { $0.busy -= 1 }
      }
    }
  }
}

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

  /// Removes all messages, the oldest first, and waits for none. Who empties a mailbox so does not `take` from it.
  public func takeAll() -> [Message] {
    messages.withLock { all in
      defer { all = [] }
      return all
    }
  }

  /// Removes the oldest message; `nil` if none arrives within `seconds`.
  public func take(withinSeconds seconds: Double) -> Message? {
    guard waiting.wait(timeout: .now() + seconds) == .success else { return nil }
    return messages.withLock { $0.isEmpty ? nil : $0.removeFirst() }
  }
}
