import Core
import Dispatch
import FoundationEssentials
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

  /// A worker without an order.
  private final class Waiting: Sendable {
    /// One message, what is to be done with it: `nil` when it is not needed.
    let assignment = Mailbox<(@Sendable (_ started: Channel?) -> Void)?>()
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
  /// `launched` first, if it can be started, `ended` last.
  func start(_ order: WorkerOrder, log: LogFile, report: @escaping @Sendable (WorkerReport) -> Void)
  {
    let work: @Sendable (Channel?) -> Void = { [self] in
      serve(order, log, report, startedBefore: $0)
    }
    if let one = waiting.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) {
      return one.assignment.put(work)
    }
    if !JobThread.start({ work(nil) }) {
      report(.ended(.failure(ResourceExhaustion.ofThreads)))
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
    if let work = one.assignment.take() {
      work(started)
    } else {
      if let started { process.discard(started) }
      one.isGone.signal()
    }
  }

  private func serve(
    _ order: WorkerOrder, _ log: LogFile, _ report: @Sendable (WorkerReport) -> Void,
    startedBefore: Channel?
  ) {
    do {
      if let startedBefore {
        // A waiting worker may have been killed from outside: another one then does the work.
        if let end = try process.serve(order, startedBefore, log, report, isLast: false) {
          return report(.ended(.success(end)))
        }
      }
      let started = try process.spawn(memoryLimitBytes: memoryLimitBytes)
      if let end = try process.serve(order, started, log, report, isLast: true) {
        report(.ended(.success(end)))
      }
    } catch {
      let error =
        error as? FileError
        ?? FileError(kind: .other, path: process.program, operation: "make", reason: "\(error)")
      report(.ended(.failure(error)))
    }
  }
}

/// What a worker's thread tells the supervisor.
enum WorkerReport {
  /// The process that is to do the work. Told again when it was gone already and another one takes its place.
  case launched(ChildProcess)
  /// The worker has been given its order.
  case started(instructions: LineWriter)
  case said(WorkerMessage)
  /// The worker has ended, after everything it said; a failure: it could not even be started.
  case ended(Result<ProcessEnd, FileError>)
}

/// How workers are started, given their order and listened to.
struct WorkerProcess {
  /// The executable that becomes a worker when it is called with `arguments`.
  let program: FilePath
  var arguments: [String]
  private let identity: FileIdentity?

  init(program: FilePath, arguments: [String]) {
    self.program = program
    self.arguments = arguments
    identity = try? FileIdentity(of: program)
  }

  /// Lines that a worker prints before it has its log, at most.
  private static let mostEarlyLines = 100

  /// Starts one, which has no order yet. From the thread that it is to end with.
  func spawn(memoryLimitBytes: Int64?) throws -> Channel {
    try Channel(
      ProgramPath.lasting(program, known: identity), arguments, memoryLimitBytes: memoryLimitBytes,
      diesWithThread: true)
  }

  /// Ends one that is not needed.
  func discard(_ worker: Channel) {
    worker.child.kill()
    _ = worker.close()
  }

  /// Gives it its log and its order, and tells what it says until it ends.
  ///
  /// - Parameter isLast: `false`: of one that ends before it has taken its order nothing is told.
  /// - Returns: how it has ended; `nil` when it had not taken its order and `isLast` is `false`.
  func serve(
    _ order: WorkerOrder, _ started: Channel, _ log: LogFile,
    _ report: @Sendable (WorkerReport) -> Void, isLast: Bool
  ) throws -> ProcessEnd? {
    let instructions = LineWriter(started.orders)
    do {
      let line = try JSONText.canonical(order)
      try log.withDescriptor { file in
        // A worker that has ended cannot receive the file; its end is reported below.
        _ = try? Connection.give(file, over: started.orders)
      }
      report(.launched(started.child))
      instructions.write(line)
      report(.started(instructions: instructions))
    } catch {
      discard(started)
      throw error
    }
    var lines = LineReader(started.answers)
    var early: [[UInt8]] = []
    var hasBegun = false
    while let line = lines.next() {
      // A line that is no message was printed by another program and is ignored.
      if let message = try? WorkerMessage(json: line) {
        hasBegun = true
        report(.said(message))
      } else if !hasBegun, early.count < Self.mostEarlyLines {
        early.append(line)
      }
    }
    try? started.answers.close()
    for line in early { log.write(bytes: line + [UInt8(ascii: "\n")]) }
    // The kernel ends the worker together with this thread, which therefore waits for it.
    let end = started.child.wait()
    return hasBegun || isLast ? end : nil
  }
}

/// A process of this program that is given orders and says what comes of them, a line of JSON each: a worker, or one
/// that looks into captures.
///
/// A terminal's signals are for who started it, which passes on what they mean. It ends with the channel, and with
/// who started it.
struct Channel {
  let child: ChildProcess
  let orders: FileDescriptor
  let answers: FileDescriptor

  /// Starts the process.
  ///
  /// - Parameters:
  ///   - memoryLimitBytes: what it may come to use, which it sees to itself. The kernel counts address space, thread
  ///     stacks included, where that is resident pages: its limit, which catches one leap of allocation, lies above.
  ///   - errors: where the process and the loader of the system complain; `nil`: where answers go.
  ///   - diesWithThread: whether it ends with the thread that starts it.
  init(
    _ program: FilePath, _ arguments: [String], environment: [String: String] = [:],
    memoryLimitBytes: Int64?, errors: FileDescriptor? = nil, diesWithThread: Bool
  ) throws {
    let input = try Connection()
    defer { try? input.theirs.close() }
    var output: Pipe?
    do {
      let pipe = try Pipe()
      output = pipe
      defer { try? pipe.writing.close() }
      var order = ProcessOrder(program.text, arguments)
      order.input = input.theirs
      order.output = pipe.writing
      order.error = errors ?? pipe.writing
      order.hasOwnGroup = true
      order.diesWithStarter = diesWithThread
      // The runtime's own crash handler keeps a crashed process waiting; what there is to know of a crash,
      // its signal and message, comes without it.
      order.environment = ["SWIFT_BACKTRACE": "enable=no"]
        .merging(ProcessOrder.currentEnvironment) { _, given in given }
        .merging(environment) { _, own in own }
      order.dataLimitBytes = memoryLimitBytes.map { bytes in
        let (sum, overflow) = (bytes + bytes / 2).addingReportingOverflow(1 << 30)
        return overflow ? .max : sum
      }
      (orders, answers) = (input.ours, pipe.reading)
      child = try ChildProcess(order)
    } catch {
      for open in [input.ours, output?.reading].compactMap(\.self) { try? open.close() }
      throw error
    }
  }

  /// Waits for its end, which the end of the orders is to bring, and closes what is open.
  func close() -> ProcessEnd {
    try? orders.close()
    defer { try? answers.close() }
    return child.wait()
  }
}

extension LineWriter {
  /// Writes a value as a line of JSON. What the other end does not take any more is dropped.
  package func send(_ value: some Encodable, durably: Bool = false) {
    if let line = try? JSONText.canonical(value) { write(line, durably: durably) }
  }
}

/// A worker as the supervisor sees it.
struct RunningWorker {
  var child: ChildProcess?
  var instructions: LineWriter?
  let log: LogFile
  var partialReport = PartialReport()
  var outcome: CaptureOutcome?
  /// When each running stage must have ended, on the monotonic clock.
  var deadlines: [String: Deadline] = [:]
  /// Whether it gets on, seen from outside.
  var watch: LifeWatch
  /// Why we have killed it, or it itself.
  var kill: WorkerKill?
  /// Whether the worker was killed because it did not get on, by no fault of a limit that was set.
  var isStuck: Bool { kill?.code == .hung }
  var isInterrupted = false
  /// Among all workers of all runs.
  let place: Int
  var share: Int

  struct Deadline {
    var seconds: Double
    /// Whether the worker was asked to stop because it showed no progress, not because its time was over.
    var isStall = false
  }
}
