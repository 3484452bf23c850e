import Captures
import Core
import FoundationEssentials
import Glibc
import Synchronization
import SystemPackage

/// A process that works on one capture and then ends.
///
/// Orders and instructions come in on standard input, events and the outcome go out on standard output;
/// whatever a library prints goes to the log, which comes before the order. The process that started it may kill it
/// at any time, and when that ends in any way, so does this: the kernel sees to it.
public enum Worker {
  /// Works to the end; without an order there is nothing to do. Throws when the order cannot be read, which is a
  /// mistake of ours.
  ///
  /// - Parameter load: loads the libraries that most captures need, on a thread beside the reading of the order.
  public static func run(
    _ captures: CaptureRegistry, _ stages: StageRegistry,
    loading load: @escaping @Sendable () -> Void
  ) throws {
    ProcessLimits.limitArenas()
    ThreadStacks.answerRequests()
    WorkerTrial.begin()
    let channel = LineWriter(try FileDescriptor.standardOutput.duplicate())
    // Without a thread the first who needs them loads them.
    _ = JobThread.start(load)
    if !Connection.isReadable(.standardInput) { warmUp() }
    guard try takeLog() else { return }
    var lines = LineReader(.standardInput)
    guard let line = lines.next() else { return }
    let order = try WorkerOrder(json: line)
    channel.send(WorkerMessage.begun)
    WorkerTrial.contend()
    let pipeline = try order.pipeline.definition(stages)
    let clock = RunClock.system
    let interruption = Interruption()
    let budget = CoreBudget(cores: order.options.cores, share: order.share)
    if order.options.jobName != nil { outliveCancellation() }
    ProcessLimits.originalDescriptors = order.descriptorLimit
    HelperThreads.mostAtOnce = order.share
    // What must always work, before anything else.
    let isListening = listen(lines, interruption, budget, clock)
    let isWatching =
      order.memoryLimitBytes.map { limit in
        MemoryWatch.start(limitBytes: limit) { used in
          channel.send(WorkerMessage.exceededMemory(usedBytes: used))
          _exit(1)
        }
      } ?? true
    do throws(FileError) {
      guard isListening, isWatching, ThreadPool.shared != nil else {
        throw ResourceExhaustion.ofThreads
      }
      try ResourceExhaustion.checkDescriptors(forCores: order.share)
    } catch {
      var outcome = CaptureOutcome(
        order.target.report(.failed, FailureClassifier.failure(error, .ourselves)),
        codes: [ExitStatus.jobFailed])
      outcome.lacksResources = true
      return channel.send(WorkerMessage.ended(outcome))
    }
    let task = CaptureTask(
      registry: captures, asking: RunRequest(pipeline, order.options, stages),
      options: order.options, clock: clock, run: order.run,
      budget: budget, events: ChannelSink(channel: channel), interruption: interruption,
      heartbeat: Heartbeat { signs in channel.send(WorkerMessage.alive(signs: signs)) })
    channel.send(WorkerMessage.ended(task.execute(order.target)))
  }

  /// Instructions, on a thread of their own. The end of the stream is the end of whoever sent us.
  private static func listen(
    _ lines: LineReader, _ interruption: Interruption, _ budget: CoreBudget,
    _ clock: RunClock
  ) -> Bool {
    JobThread.start {
      var lines = lines
      while let line = lines.next() {
        switch try? WorkerInstruction(json: line) {
        case .share(let cores):
          budget.resize(to: cores)
          HelperThreads.mostAtOnce = cores
        case .stop(let seconds): interruption.request(graceSeconds: seconds, clock: clock)
        case nil: break
        }
      }
      _exit(1)
    }
  }

  /// A batch system that cancels a job may signal all of its processes: what it means is passed on by
  /// whoever started us, who asks for an end in order. Programs that are executed from here are ended by it.
  private static func outliveCancellation() {
    var action = sigaction()
    action.__sigaction_handler.sa_handler = { _ in }
    action.sa_flags = SA_RESTART
    for number in [SIGTERM, SIGUSR2] { sigaction(number, &action, nil) }
  }

  /// Takes the log from whoever started this: from now on all that is printed goes there, standard output is for
  /// no other. `false`: there is nothing to do.
  private static func takeLog() throws -> Bool {
    switch try Connection.take(from: .standardInput) {
    case .end: return false
    case .none: break
    case .file(let log):
      _ = try log.duplicate(as: .standardError)
      // It is open as standard error. What a disk says at a close is of no consequence before anything is written.
      try? log.close()
    }
    _ = try FileDescriptor.standardError.duplicate(as: .standardOutput)
    return true
  }

  /// First uses of what every worker uses, which take milliseconds: code is loaded, types are made.
  private static func warmUp() {
    var event = RunEvent(kind: .progress, time: RunClock.system.wallText())
    event.frames = 1
    guard let line = try? JSONText.canonical(WorkerMessage.event(event)) else { return }
    _ = try? WorkerMessage(json: line)
  }

  private struct ChannelSink: EventSink {
    let channel: LineWriter
    func send(_ event: RunEvent) { channel.send(WorkerMessage.event(event)) }
  }
}

/// All that a worker is told before it starts, as one line of JSON on its standard input. Before it, by the same
/// connection, comes its log.
struct WorkerOrder: Sendable, Codable {
  var target: CaptureTarget
  var pipeline: PipelineSource
  var options: RunOptions
  var run: String
  /// Cores that it may keep busy at first, of `options.cores`.
  var share: Int
  /// The most resident private memory it may come to use.
  var memoryLimitBytes: Int64?
  /// The limit of open descriptors that programs of others are started with; `nil`: that of the worker.
  var descriptorLimit: UInt64?
}

/// What a worker is told while it works, a line of JSON each.
enum WorkerInstruction: Hashable, Codable {
  /// Keep this many cores busy from now on.
  case share(Int)
  /// Start nothing more; end what can be ended within the grace.
  case stop(graceSeconds: Double)
}

/// What a worker says on its standard output, a line of JSON each.
enum WorkerMessage: Codable {
  /// The first line: it has its order.
  case begun
  case event(RunEvent)
  /// Something has gone on since it said so last: counts frames, files and waits that are in order. Said by the
  /// thread that would stop a stage which makes no progress.
  case alive(signs: Int)
  /// The worker ends itself now: it uses more memory than it may.
  case exceededMemory(usedBytes: Int64)
  /// The last line.
  case ended(CaptureOutcome)
}

/// Passes on that a worker's work goes on: when the number that counts it has changed, and not more often than twice
/// a second. Called by the thread that does or judges the work, never by one of its own: what stands still is silent.
final class Heartbeat: Sendable {
  private let state = Mutex<(signs: Int, seconds: Double, waits: Int)>((0, -.infinity, 0))
  private let clock: RunClock
  private let tell: @Sendable (Int) -> Void

  init(clock: RunClock = .system, _ tell: @escaping @Sendable (Int) -> Void) {
    self.clock = clock
    self.tell = tell
  }

  /// Notes the progress so far; a number that differs from the last one is a sign of life.
  func beat(_ signs: Int) {
    let now = clock.monotonicSeconds()
    let new = state.withLock { state -> Int? in
      let sum = signs &+ state.waits
      guard sum != state.signs, now - state.seconds >= 0.5 else { return nil }
      state.signs = sum
      state.seconds = now
      return sum
    }
    if let new { tell(new) }
  }

  /// Waits for something that is not ours to hurry: a lock, a pause before another attempt.
  func wait() {
    let signs = state.withLock { state in
      state.waits &+= 1
      return state.signs
    }
    // The sum is another one now.
    beat(signs &+ 1)
  }
}

/// Looks at the memory of this process.
enum MemoryWatch {
  /// Looks ten times a second. Calls `exceeded`, once, when more than `limitBytes` of private memory are resident. Mapped files
  /// do not count: the system takes their pages back by itself.
  ///
  /// `false` when there is no thread for it.
  static func start(limitBytes: Int64, _ exceeded: @escaping @Sendable (Int64) -> Void) -> Bool {
    JobThread.start {
      while true {
        if let used = resident()?.privateBytes, used > limitBytes { return exceeded(used) }
        usleep(100_000)
      }
    }
  }

  /// Peak resident memory in bytes, of this program: what the kernel tells of a process (`ru_maxrss`) takes in the
  /// memory of the one that started it.
  static var peakBytes: Int64 {
    if let line = ControlGroup.lines("/proc/self/status", most: 8192)
      .first(where: { $0.hasPrefix("VmHWM:") }),
      let kilobytes = line.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first
        .flatMap({ Int64($0) })
    {
      return kilobytes * 1024
    }
    var usage = rusage()
    getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    return Int64(usage.ru_maxrss) * 1024
  }

  /// What is in memory, from `/proc/self/statm`: all pages, and those without a file behind them.
  static func resident() -> (bytes: Int64, privateBytes: Int64)? {
    let numbers = ProcessText.of("/proc/self/statm").split(separator: " ")
      .compactMap { Int64($0) }
    guard numbers.count >= 3 else { return nil }
    let pageBytes = Int64(sysconf(Int32(_SC_PAGESIZE)))
    return (numbers[1] * pageBytes, (numbers[1] - numbers[2]) * pageBytes)
  }
}

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
