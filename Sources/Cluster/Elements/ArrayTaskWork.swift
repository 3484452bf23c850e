import Captures
import FoundationEssentials
import Engine
import Core
import SystemPackage

#if canImport(Glibc)
  import Glibc
#endif

/// The work of one array task: a local run over the captures of its order, whose results are lines
/// of a file.
///
/// Crash isolation, limits, locks and publication are the same as in a local run. Nothing depends
/// on the batch system that started it.
public struct ArrayTaskWork {
  private let files: RunFiles
  private let number: Int
  private let place: TaskEnvironment
  private let registry: CaptureRegistry
  private let stages: StageRegistry
  private let program: ProgramIdentity
  private let clock: RunClock

  /// How long to wait for a capture that another process holds. The program of a task on a lost
  /// node may still run and hold it.
  static let lockPatienceSeconds = 120.0
  /// Fraction of the memory limit that the array task's own process reserves.
  static let ownShareOfMemory = 0.1
  /// Time reserved before the kill for writing the last lines.
  static let lastWordsSeconds = 5.0
  /// The least time between the warning and the end of an array task's time limit.
  static let warningSeconds = 120.0

  /// - Parameters:
  ///   - run: the run's folder.
  ///   - offset: the number of the task with array index 0.
  public init(
    run: FilePath, offset: Int, place: TaskEnvironment, registry: CaptureRegistry,
    stages: StageRegistry, program: ProgramIdentity, clock: RunClock = .system
  ) {
    files = RunFiles(run: run)
    number = offset + place.index
    self.place = place
    self.registry = registry
    self.stages = stages
    self.program = program
    self.clock = clock
  }

  /// The exit code of the program and a message.
  public struct Ending: Sendable {
    public var exit: Int
    public var message: String?
  }

  /// An array task that has read its order but not started any work. It is created while signals
  /// can still be blocked.
  public struct Prepared: Sendable {
    let order: ArrayTaskOrder
    let writer: ResultWriter
    /// Time for a clean stop after an interrupt. Leaves `lastWordsSeconds` before the kill.
    public var graceSeconds: Double {
      min(order.graceSeconds, max(1, order.killWaitSeconds - ArrayTaskWork.lastWordsSeconds))
    }
    var probe: Bool?
    let begunSeconds: Double

    /// When to stop after the batch system's warning, and the time that running stages then get.
    ///
    /// The warning may come up to a minute early. If no setup lines ran before the program, its own
    /// clock is more exact than the warning.
    public func stop(_ clock: RunClock) -> (afterSeconds: Double, graceSeconds: Double) {
      if order.hasSetup { return (ArrayTaskWork.warningSeconds / 2, 45) }
      let passed = clock.monotonicSeconds() - begunSeconds
      return (max(0, Double(order.request.timeSeconds) - passed - 30), 15)
    }

    /// Must be called when the batch system or a user cancels the task.
    public func noteCancellation() { writer.noteCancellation() }
  }

  public enum Beginning: Sendable {
    case ready(Prepared)
    case over(Ending)
  }

  /// Reads the order, checks that run folder and program are those it was written for, and changes
  /// to its working folder.
  public func prepare() -> Beginning {
    let name = RunFiles.orderName(number)
    let order: ArrayTaskOrder
    let writer: ResultWriter
    do {
      let folder = try HeldFolder.following(files.folder)
      let path = files.folder.appending(RunFiles.ordersName).appending(name.folder)
        .appending(name.file)
      guard
        let bytes = try folder.folder(RunFiles.ordersName)?.folder(name.folder)?
          .contents(of: name.file)
      else {
        throw FileError(
          kind: .notFound, path: path, operation: "read", reason: "no order of this element")
      }
      order = try JSONDecoder().decode(ArrayTaskOrder.self, from: Data(bytes))
      writer = try ResultWriter(
        try folder.makeFolder(RunFiles.resultsName),
        name: RunFiles.resultsName(number, job: place.job), output: order.options.output,
        clock: clock)
      writer.write(
        .begin(
          ArrayTaskBegin(
            element: number, job: place.job, host: host, cores: cores(order),
            memoryBytes: memoryBytes)), durably: true)
      let nonce = try folder.contents(of: RunFiles.nonceName, limit: 4096)
      if let why = refusal(order, nonce: nonce) {
        writer.write(
          .end(ArrayTaskEnd(.refused, left: order.captures.map(\.name), message: why)),
          durably: true)
        return .over(Ending(exit: ExitStatus.badPipeline, message: why))
      }
      var prepared = Prepared(
        order: order, writer: writer, begunSeconds: clock.monotonicSeconds())
      if order.probesLocks { prepared.probe = LockProbe.canTake(in: folder) }
      return .ready(prepared)
    } catch {
      return .over(
        Ending(
          exit: ExitStatus.badPipeline,
          message: "element \(number) cannot begin on \(host): \(error)"))
    }
  }

  /// Why the order cannot be carried out on this node; `nil` if it can.
  private func refusal(_ order: ArrayTaskOrder, nonce: [UInt8]?) -> String? {
    guard nonce == Array(order.nonce.utf8) else {
      return "the folder \(files.run) on \(host) is not the same as the supervisor's: nothing may "
        + "be mounted over it, and the output must lie on a shared disk"
    }
    guard order.program == program,
      let path = ProgramPath.ofThisProgram,
      (try? Digest(ofFileAt: path)) == order.programDigest
    else {
      return
        "the program on \(host) is \(program.version) (\(program.commit ?? "unknown commit")), "
        + "another build than the supervisor's \(order.program.version) "
        + "(\(order.program.commit ?? "unknown commit")), or runs with other libraries: "
        + "install the same build everywhere, or name one on a shared disk with 'program' in the profile"
    }
    guard order.workingFolder.withPlatformString({ chdir($0) }) == 0 else {
      return "the folder \(order.workingFolder), where the run was started, is not there on \(host)"
    }
    return nil
  }

  private var host: String { place.node ?? ProcessHome.hostName }

  private func cores(_ order: ArrayTaskOrder) -> Int { place.cores ?? order.request.cores }

  private var memoryBytes: Int64? {
    place.memoryBytes.map { $0 - Int64(Double($0) * Self.ownShareOfMemory) }
  }

  /// Runs the task to its end. Never throws: errors are in the results.
  ///
  /// - Parameters:
  ///   - interruption: requests the end.
  ///   - isOutOfTime: whether the reason is the time limit.
  ///   - isCancelled: whether the reason is a cancellation.
  public func run(
    _ prepared: Prepared, workerProgram: FilePath, workerArguments: [String],
    look: CaptureLook?, interruption: Interruption,
    isOutOfTime: () -> Bool, isCancelled: () -> Bool
  ) -> Ending {
    let order = prepared.order
    let writer = prepared.writer
    var options = order.options
    options.cores = cores(order)
    options.memoryBytes = memoryBytes ?? options.memoryBytes
    options.lockPatienceSeconds = Self.lockPatienceSeconds
    // An array task of this run that counts as lost may still work on the same capture.
    options.attempt = RunID.new(at: clock).text
    options.jobName = "job \(place.job)"
    let scratch = order.usesScratch ? ArrayTaskScratch(place) : nil
    defer { scratch?.remove() }
    options.scratch = scratch?.path
    do {
      let pipeline = try order.pipeline.definition(stages)
      let batch = BatchRun(
        registry: registry, pipeline: pipeline, options: options, clock: clock, look: look)
      let supervisor = Supervisor(
        batch, source: order.pipeline, program: workerProgram, arguments: workerArguments)
      _ = supervisor.run(
        order.captures.map(\.target), declined: [], run: order.run, events: writer,
        interruption: interruption)
    } catch {
      writer.write(
        .end(
          ArrayTaskEnd(.refused, left: order.captures.map(\.name), message: "\(error)")),
        durably: true)
      return Ending(exit: ExitStatus.badPipeline, message: "\(error)")
    }
    let written = writer.written
    let left = order.captures.map(\.name).filter { !written.contains($0) }
    var end = ArrayTaskEnd(
      left.isEmpty ? .done : isCancelled() ? .cancelled : isOutOfTime() ? .outOfTime : .done,
      left: left)
    end.tookHeldLock = prepared.probe
    writer.write(.end(end), durably: true)
    return Ending(exit: end.way == .cancelled ? ExitStatus.terminated : ExitStatus.success)
  }
}
