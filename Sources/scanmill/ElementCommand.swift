import ArgumentParser
import Captures
import Cluster
import FoundationEssentials
import Output
import Parallel
import Pipeline
import Processes
import Runner
import Storage
import Synchronization
import SystemPackage

#if canImport(Glibc)
  import Glibc
#endif

/// What a batch system starts on a node for each element of a run. Nobody else has a use for it.
struct ElementCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "element", abstract: "Work on one element of a run on a cluster.",
    shouldDisplay: false)

  @Argument(help: "The run's folder.")
  var folder: String

  @Argument(help: "The number of the element with index 0.")
  var offset: Int

  func run() throws {
    try Toolbox.checkLibraries()
    let work = ArrayTaskWork(
      run: FilePath(text: folder), offset: offset,
      place: TaskEnvironment(slurm: ProcessInfo.processInfo.environment),
      registry: Toolbox.captures, stages: Toolbox.stages, program: Version.program)
    let prepared: ArrayTaskWork.Prepared
    switch work.prepare() {
    case .over(let ending): throw Failure(code: ending.exit, text: ending.message ?? "it ended")
    case .ready(let ready): prepared = ready
    }
    guard let program = ProgramPath.ofThisProgram else {
      throw Failure(code: ExitStatus.internalError, text: "cannot find this program's own file")
    }
    let interruption = Interruption()
    let clock = RunClock.system
    // Before any other thread: those inherit what is held back, and a thread that does not hold a signal
    // back lets it end the process.
    ArrayTaskTime.hold()
    let signals = Signals(
      interruption, graceSeconds: prepared.graceSeconds, clock,
      onRequest: { prepared.noteCancellation() })
    let timeIsUp = ArrayTaskTime(interruption, clock) { prepared.stop(clock) }
    let looker = try InspectionCommand.looker(atOnce: 1)
    let ending = work.run(
      prepared, workerProgram: program, workerArguments: WorkerCommand.arguments(),
      look: looker.summary, interruption: interruption,
      isOutOfTime: { timeIsUp.isUp }, isCancelled: { signals.exitCode != nil })
    if let message = ending.message { Console.error(message) }
    if ending.exit != 0 { throw Exit(code: ending.exit) }
  }
}

/// Hears that the time of an element is nearly up (SIGUSR2): nothing more starts, what ends in what is left
/// may end.
final class ArrayTaskTime: Sendable {
  private let state = Mutex(false)
  var isUp: Bool { state.withLock { $0 } }

  /// Holds the signal back, in this thread and all that it starts.
  static func hold() {
    var held = set
    pthread_sigmask(SIG_BLOCK, &held, nil)
    // The shell before us has had it ignored.
    signal(SIGUSR2, SIG_DFL)
  }

  private static var set: sigset_t {
    var held = sigset_t()
    sigemptyset(&held)
    sigaddset(&held, SIGUSR2)
    return held
  }

  /// Listens from now on.
  ///
  /// - Parameter stop: how long after the signal everything is to stop, and what may take how long then.
  init(
    _ interruption: Interruption, _ clock: RunClock,
    stop: @escaping @Sendable () -> (afterSeconds: Double, graceSeconds: Double)
  ) {
    let set = Self.set
    let isListening = JobThread.start { [self] in
      var signals = set
      var number: Int32 = 0
      while sigwait(&signals, &number) != 0 {}
      let (after, grace) = stop()
      usleep(UInt32(min(3600, max(0, after)) * 1e6))
      state.withLock { $0 = true }
      interruption.request(graceSeconds: grace, clock: clock)
    }
    // Without a thread for it the end of the time is a plain end.
    var held = set
    if !isListening { pthread_sigmask(SIG_UNBLOCK, &held, nil) }
  }
}
