import Foundation

/// Threads of servers in the process of the tests, which must not wait for tests that compute.
public let serverThreads: any TaskExecutor = WaitingThreads.ofServers

/// Threads that may block, for tests that wait for programs. As many tests as threads are at work at once.
/// `condition` guards all that changes.
final class WaitingThreads: TaskExecutor, @unchecked Sendable {
  static let shared = WaitingThreads(
    count: max(4, 3 * ProcessInfo.processInfo.activeProcessorCount))
  /// For suites whose tests run one after another: each would wait behind all tests of the others, and the last ones
  /// would be alone at the end.
  static let ofSequences = WaitingThreads(count: 2)
  static let ofServers = WaitingThreads(count: 4)

  /// Guards `jobs`.
  private let condition = NSCondition()
  private var jobs: [UnownedJob] = []

  /// Starts the threads, which live as long as the process.
  private init(count: Int) {
    for number in 1...count {
      let thread = Thread { [self] in work() }
      thread.name = "test \(number)"
      // Tests decode and compare whole captures.
      thread.stackSize = 8 << 20
      thread.start()
    }
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    condition.withLock { jobs.append(job) }
    condition.signal()
  }

  private func work() {
    while true { next().runSynchronously(on: asUnownedTaskExecutor()) }
  }

  /// The oldest job, as soon as there is one.
  private func next() -> UnownedJob {
    condition.withLock {
      while jobs.isEmpty { condition.wait() }
      return jobs.removeFirst()
    }
  }
}
