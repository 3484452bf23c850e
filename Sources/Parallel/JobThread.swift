#if canImport(Glibc)
  import Glibc
#endif

/// Runs blocking work on a thread of its own, so that it never starves the pool that
/// `concurrentPerform` draws its helpers from.
public enum JobThread {
  /// Starts `body` on a new detached thread. Falls back to running it at once when the system gives no
  /// thread.
  public static func start(_ body: @escaping @Sendable () -> Void) {
    let box = Unmanaged.passRetained(Box(body))
    var thread = pthread_t()
    let code = pthread_create(
      &thread, nil,
      { argument in
        guard let argument else { return nil }
        Unmanaged<Box>.fromOpaque(argument).takeRetainedValue().body()
        return nil
      }, box.toOpaque())
    if code == 0 {
      pthread_detach(thread)
    } else {
      box.takeRetainedValue().body()
    }
  }

  private final class Box: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }
}
