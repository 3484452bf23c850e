import ArgumentParser
import Captures
import Cluster
import FoundationEssentials
import Engine
import Core
import Synchronization
import SystemPackage
import Glibc

/// The command that a batch system starts on a node for each array task. Not meant for users.
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
    do throws(ArrayTaskWork.Ending) {
      prepared = try work.prepare()
    } catch {
      throw CommandFailure(error.exit, error.message ?? "it ended")
    }
    guard let program = ProgramPath.ofThisProgram else {
      throw CommandFailure(
        ExitStatus.internalError, "cannot find this program's own file")
    }
    let interruption = Interruption()
    let clock = RunClock.system
    // Must precede the start of other threads. They inherit the blocked signals; a thread that does
    // not block a signal lets it end the process.
    ArrayTaskTime.hold()
    let signals = Signals(
      interruption, graceSeconds: prepared.graceSeconds, clock,
      onRequest: { prepared.noteCancellation() })
    let timeIsUp = ArrayTaskTime(interruption, clock) { prepared.stop(clock) }
    let client = try InspectionCommand.client(atOnce: 1)
    let ending = work.run(
      prepared, workerProgram: program, workerArguments: WorkerCommand.arguments(),
      look: client.look, interruption: interruption,
      isOutOfTime: { timeIsUp.isUp }, isCancelled: { signals.exitCode != nil })
    if let message = ending.message { Console.error(message) }
    if ending.exit != 0 { throw Exit(code: ending.exit) }
  }
}

/// Handles the warning that an array task's time limit is near (SIGUSR2): nothing more is started,
/// and running stages that can end in the remaining time continue.
final class ArrayTaskTime: Sendable {
  private let state = Mutex(false)
  var isUp: Bool { state.withLock { $0 } }

  /// Blocks the signal in this thread and in threads that it starts.
  static func hold() {
    var held = set
    pthread_sigmask(SIG_BLOCK, &held, nil)
    // The batch script ignores the signal, which the program inherits.
    signal(SIGUSR2, SIG_DFL)
  }

  private static var set: sigset_t {
    var held = sigset_t()
    sigemptyset(&held)
    sigaddset(&held, SIGUSR2)
    return held
  }

  /// Starts waiting for the signal.
  ///
  /// - Parameter stop: returns the time from the signal to the stop, and the time that running
  ///   stages then get.
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
    // Without the thread, the signal ends the process.
    var held = set
    if !isListening { pthread_sigmask(SIG_UNBLOCK, &held, nil) }
  }
}
