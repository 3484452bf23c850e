import Core
import Synchronization

#if canImport(Glibc)
  import Glibc
#endif

/// What tests ask of a worker by a variable of its environment: it is set nowhere else.
enum WorkerTrial {
  /// `contend`, `freeze` or `spin`.
  static let variable = "SCANMILL_WORKER_TRIAL"

  private static var wanted: String? { getenv(variable).map { String(cString: $0) } }

  /// `freeze`: a thread of this worker that gets SIGSYS stands still from then on; `spin`: it computes for ever.
  static func begin() {
    if wanted == "freeze" || wanted == "spin" {
      ThreadStacks.freezeOnRequest(spins: wanted == "spin")
    }
  }

  /// `contend`: for a second, the main thread and another one want the same lock and make the same generic types for
  /// the first time.
  ///
  /// A process that was forked by one that had run Swift does not survive it: locks of the runtime hold the number of
  /// the thread that has them, and the copy goes on with that of the original.
  static func contend() {
    guard wanted == "contend" else { return }
    let bench = Bench()
    let isHelped = JobThread.start {
      bench.work()
      bench.end.withLock { $0 += 1 }
    }
    bench.work()
    while isHelped, bench.end.withLock({ $0 == 0 }) { usleep(1000) }
  }

  private final class Bench: Sendable {
    let count = Mutex(0)
    let end = Mutex(0)

    func work() {
      let start = RunClock.system.monotonicSeconds()
      var depth = 0
      while RunClock.system.monotonicSeconds() < start + 1 {
        depth += 1
        _ = Self.nest(Int.self, depth % 400)
        _ = Self.nest(String.self, depth % 400)
        for _ in 0..<200 {
          count.withLock { count in
            count += 1
            // A holder that sleeps is one that others wait for in the kernel.
            if count % 500 == 0 { usleep(50) }
          }
        }
      }
    }

    /// A type that no compiler has made: the runtime does, under a lock.
    private static func nest(_ type: any Any.Type, _ depth: Int) -> Int {
      func deeper<Element>(_ type: Element.Type) -> Int { nest(Layer<Element>.self, depth - 1) }
      return depth <= 0 ? 0 : 1 + _openExistential(type, do: deeper)
    }
  }

  private struct Layer<Element> {
    var elements: [Element]
  }
}
