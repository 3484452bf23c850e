import Synchronization

#if canImport(Glibc)
  import Glibc
#endif

/// Runs blocking work on a thread of its own.
public enum JobThread {
  /// Starts `body` on a new detached thread. `false`, and nothing done, when the system gives none: the
  /// caller waits and asks again, does without, or says what is short.
  public static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
    let box = Unmanaged.passRetained(Box(body))
    var thread = pthread_t()
    let code = pthread_create(
      &thread, nil,
      { argument in
        guard let argument else { return nil }
        Unmanaged<Box>.fromOpaque(argument).takeRetainedValue().body()
        return nil
      }, box.toOpaque())
    guard code == 0 else {
      box.release()
      return false
    }
    pthread_detach(thread)
    return true
  }

  private final class Box: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }
}

/// Threads that are kept for one job at a time each. One is made at the beginning, so that whatever
/// becomes short later, one job can always go on.
public final class ThreadPool: Sendable {
  /// That of this process; `nil` when there was not even one thread.
  public static let shared = ThreadPool()

  private let orders = Mailbox<@Sendable () -> Void>()
  private let state: Mutex<(threads: Int, busy: Int)>

  /// `nil` when there is not even one thread.
  public init?() {
    state = Mutex((1, 0))
    guard member() else { return nil }
  }

  /// Runs `body` on a thread of the crew, which grows by one if all are at work. `false`, and nothing
  /// done, when it cannot.
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
