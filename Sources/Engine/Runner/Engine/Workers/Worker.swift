import Captures
import FoundationEssentials
import Core
import SystemPackage

#if canImport(Glibc)
  import Glibc
#endif

/// A process that works on one capture and then ends.
///
/// Orders and instructions come in on standard input, events and the outcome go out on standard output;
/// whatever a library prints goes to the log, which comes before the order. The process that started it may kill it
/// at any time, and when that ends in any way, so does this: the kernel sees to it.
public enum Worker {
  /// Works to the end; without an order there is nothing to do. Throws when the order cannot be read, which is a
  /// mistake of ours.
  ///
  /// - Parameter whileWaiting: called when the order is not there yet: loads what most captures need.
  public static func run(
    _ captures: CaptureRegistry, _ stages: StageRegistry, whileWaiting: () -> Void
  ) throws {
    ThreadStacks.answerRequests()
    WorkerTrial.begin()
    let channel = LineWriter(try FileDescriptor.standardOutput.duplicate())
    if !Connection.isReadable(.standardInput) {
      warmUp()
      whileWaiting()
    }
    guard try takeLog() else { return }
    var lines = LineReader(.standardInput)
    guard let line = lines.next() else { return }
    let order = try JSONDecoder().decode(WorkerOrder.self, from: Data(line))
    send(.begun, to: channel)
    WorkerTrial.contend()
    let pipeline = try order.pipeline.definition(stages)
    let clock = RunClock.system
    let interruption = Interruption()
    let budget = CoreBudget(cores: order.options.cores, share: order.share)
    if order.options.jobName != nil { outliveCancellation() }
    DescriptorLimit.original = order.descriptorLimit
    HelperThreads.mostAtOnce = order.share
    // What must always work, before anything else.
    let isListening = listen(lines, interruption, budget, clock)
    let isWatching =
      order.memoryLimitBytes.map { limit in
        MemoryWatch.start(limitBytes: limit) { used in
          send(.exceededMemory(usedBytes: used), to: channel)
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
        order.target.report(.failed, error.description, cause: .machine),
        codes: [ExitStatus.jobFailed])
      outcome.lacksResources = true
      return send(.ended(outcome), to: channel)
    }
    let task = CaptureTask(
      registry: captures, pipeline: pipeline, options: order.options, clock: clock, run: order.run,
      budget: budget, events: ChannelSink(channel: channel), interruption: interruption,
      heartbeat: Heartbeat { signs in send(.alive(signs: signs), to: channel) })
    send(.ended(task.execute(order.target)), to: channel)
  }

  /// Instructions, on a thread of their own. The end of the stream is the end of whoever sent us.
  private static func listen(
    _ lines: LineReader, _ interruption: Interruption, _ budget: CoreBudget,
    _ clock: RunClock
  ) -> Bool {
    JobThread.start {
      var lines = lines
      while let line = lines.next() {
        switch try? JSONDecoder().decode(WorkerInstruction.self, from: Data(line)) {
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
    var event = RunEvent(.progress, time: RunClock.system.wallText())
    event.frames = 1
    guard let line = try? JSONText.canonical(WorkerMessage.event(event)) else { return }
    _ = try? JSONDecoder().decode(WorkerMessage.self, from: Data(line))
  }

  fileprivate static func send(_ message: WorkerMessage, to channel: LineWriter) {
    guard let line = try? JSONText.canonical(message) else { return }
    channel.write(line)
  }

  private struct ChannelSink: EventSink {
    let channel: LineWriter
    func send(_ event: RunEvent) { Worker.send(.event(event), to: channel) }
  }
}
