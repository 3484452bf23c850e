import Dispatch
import Core
import Synchronization
import SystemPackage

/// Workers of one run. Each serves one capture; some are started before they are needed, have loaded what every
/// worker loads, and wait for their order.
///
/// All are executed: nothing is forked from a process that has run Swift, whose locks know threads by numbers that a
/// copy takes over and that are wrong in it. Each has a thread here, which starts it, listens to it and waits for its
/// end: the kernel ends the worker with that thread.
final class WorkerPool: Sendable {
  private let process: WorkerProcess
  /// What each may come to use.
  let memoryLimitBytes: Int64
  private let waiting = Mutex<[Waiting]>([])

  init(_ process: WorkerProcess, memoryLimitBytes: Int64) {
    self.process = process
    self.memoryLimitBytes = memoryLimitBytes
  }

  /// What is to be done, and who is told about it.
  private struct Assignment {
    var order: WorkerOrder
    var log: LogFile
    var report: @Sendable (WorkerReport) -> Void
  }

  /// A worker without an order.
  private final class Waiting: Sendable {
    /// One message: `nil` when it is not needed.
    let assignment = Mailbox<Assignment?>()
    /// Signalled when a worker that was not needed is gone.
    let isGone = DispatchSemaphore(value: 0)
  }

  /// Workers that wait for an order, at most.
  private static let mostReady = 2

  /// Has workers ready that wait, of which `expected` will be needed. One that cannot be started is none: whoever needs
  /// it will be told.
  func keepReady(_ expected: Int, _ admission: Admission) {
    let count = min(Self.mostReady, admission.cores, expected, admission.freeWorkers - 1)
    let missing = count - waiting.withLock(\.count)
    for _ in 0..<max(0, missing) {
      let one = Waiting()
      guard JobThread.start({ [self] in live(one) }) else { return }
      waiting.withLock { $0.append(one) }
    }
  }

  /// Starts one on `order`, which bears the memory limit of the pool. `report` is called from its thread,
  /// `launched` or `failed` first, `ended` last.
  func start(_ order: WorkerOrder, log: LogFile, report: @escaping @Sendable (WorkerReport) -> Void)
  {
    let assignment = Assignment(order: order, log: log, report: report)
    if let one = waiting.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) {
      return one.assignment.put(assignment)
    }
    if !JobThread.start({ [self] in serve(assignment, startedBefore: nil) }) {
      report(.failed(ResourceExhaustion.ofThreads))
    }
  }

  /// Ends those that wait, and waits until they are gone. More may be started after.
  func dismissWaiting() {
    let all = waiting.withLock { waiting in
      defer { waiting = [] }
      return waiting
    }
    for one in all { one.assignment.put(nil) }
    // The wait is limited: a worker may hang on a disk that does not answer. It ends with this process.
    for one in all { _ = one.isGone.wait(timeout: .now() + 5) }
  }

  // MARK: On the thread of a worker

  private func live(_ one: Waiting) {
    let started = try? process.spawn(memoryLimitBytes: memoryLimitBytes)
    if let assignment = one.assignment.take() {
      serve(assignment, startedBefore: started)
    } else {
      if let started { process.discard(started) }
      one.isGone.signal()
    }
  }

  private func serve(_ assignment: Assignment, startedBefore: Channel?) {
    do {
      if let startedBefore {
        // A waiting worker may have been killed from outside: another one then does the work.
        if let end = try process.serve(
          assignment.order, startedBefore, assignment.log, assignment.report, isLast: false)
        {
          return assignment.report(.ended(end))
        }
      }
      let started = try process.spawn(memoryLimitBytes: memoryLimitBytes)
      if let end = try process.serve(
        assignment.order, started, assignment.log, assignment.report, isLast: true)
      {
        assignment.report(.ended(end))
      }
    } catch {
      assignment.report(
        .failed(
          error as? FileError
            ?? FileError(
              kind: .other, path: process.program, operation: "make", reason: "\(error)")))
    }
  }
}
