import Captures
import Core
import Engine
import Synchronization
import SystemPackage
import Glibc

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
  public struct Ending: Error {
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

  /// Reads the order, checks that run folder and program are those it was written for, and changes
  /// to its working folder.
  public func prepare() throws(Ending) -> Prepared {
    let name = RunFiles.orderName(number)
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
      let order = try ArrayTaskOrder(json: bytes)
      let writer = try ResultWriter(
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
          .end(ArrayTaskEnd(way: .refused, left: order.captures.map(\.name), message: why)),
          durably: true)
        throw Ending(exit: ExitStatus.badPipeline, message: why)
      }
      var prepared = Prepared(
        order: order, writer: writer, begunSeconds: clock.monotonicSeconds())
      if order.probesLocks { prepared.probe = FileLock.canTakeProbe(in: folder) }
      return prepared
    } catch let ending as Ending {
      throw ending
    } catch {
      throw Ending(
        exit: ExitStatus.badPipeline,
        message: "element \(number) cannot begin on \(host): \(error)")
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
        registry: registry, pipeline: pipeline, options: options, clock: clock, look: look,
        stages: stages)
      let supervisor = Supervisor(
        batch, source: order.pipeline, program: workerProgram, arguments: workerArguments)
      _ = supervisor.prepare(order.captures.map(\.target)).run(
        run: order.run, events: writer, interruption: interruption)
    } catch {
      writer.write(
        .end(
          ArrayTaskEnd(way: .refused, left: order.captures.map(\.name), message: "\(error)")),
        durably: true)
      return Ending(exit: ExitStatus.badPipeline, message: "\(error)")
    }
    let written = writer.written
    let left = order.captures.map(\.name).filter { !written.contains($0) }
    var end = ArrayTaskEnd(
      way: left.isEmpty ? .done : isCancelled() ? .cancelled : isOutOfTime() ? .outOfTime : .done,
      left: left)
    end.tookHeldLock = prepared.probe
    writer.write(.end(end), durably: true)
    return Ending(exit: end.way == .cancelled ? ExitStatus.terminated : ExitStatus.success)
  }
}

/// A temporary folder of an array task on the node's own disk. It is removed when the task ends.
struct ArrayTaskScratch {
  let path: FilePath

  /// Creates a folder with mode 0700 and a name that contains the job. Its parent is the job's
  /// folder from the batch system, else `TMPDIR`, else `/tmp`. `nil` if it cannot be created; all
  /// files are then in the output.
  init?(_ place: TaskEnvironment) {
    let general = getenv("TMPDIR").map { String(cString: $0) }.flatMap {
      $0.hasPrefix("/") ? $0 : nil
    }
    let base = place.scratch ?? general ?? "/tmp"
    let random = UInt32.random(in: 0 ... .max)
    let path = FilePath(base).appending("scanmill-\(place.job)-\(random)")
    guard path.withPlatformString({ mkdir($0, 0o700) }) == 0 else { return nil }
    self.path = path
  }

  /// Files that cannot be removed remain for the site's own cleanup.
  func remove() {
    guard let parent = try? HeldFolder.following(path.removingLastComponent()),
      let name = path.lastComponent?.string
    else { return }
    try? parent.remove(name)
  }
}

/// Appends lines to the results file of an array task, which has no other writer. Each line is one
/// `write`. Lines that record a decision are flushed to disk.
final class ResultWriter: Sendable, ReportSink {
  /// Write errors are ignored: without results the supervisor treats the task as one that reported nothing.
  private let lines: LineWriter
  private let state = Mutex(State())

  private struct State {
    var started: [String: Double] = [:]
    var written: Set<String> = []
  }

  private let clock: RunClock

  private let output: FilePath

  private let isCancelled = Mutex(false)

  /// Suppresses failures from now on. A batch system may signal all processes of a cancelled job,
  /// including the programs of stages, which then fail.
  func noteCancellation() { isCancelled.withLock { $0 = true } }

  /// - Parameter output: the output folder, in which artifacts are looked up.
  init(_ folder: HeldFolder, name: String, output: FilePath, clock: RunClock) throws(FileError) {
    self.output = output
    lines = LineWriter(try folder.append(to: name))
    self.clock = clock
  }

  deinit { lines.close() }

  /// Names of captures that have a line.
  var written: Set<String> { state.withLock { $0.written } }

  func write(_ line: ArrayTaskLine, durably: Bool) { lines.send(line, durably: durably) }

  /// Omits progress, and events that the supervisor sends itself.
  func send(_ event: RunEvent) {
    switch event.kind {
    case .progress, .runStarted, .runFinished, .captureFinished: return
    case .captureStarted:
      state.withLock { $0.started[event.capture ?? ""] = clock.monotonicSeconds() }
    default: break
    }
    write(.event(event), durably: false)
  }

  /// Interrupted captures get no line and count as left.
  func send(_ outcome: CaptureOutcome) {
    let report = outcome.report
    guard report.outcome != .interrupted, !(outcome.hasFailed && isCancelled.withLock { $0 }) else {
      return
    }
    let began = state.withLock { state in
      state.written.insert(report.id)
      return state.started[report.id]
    }
    let made = Set(report.stages.filter { $0.outcome == .made }.map(\.stage))
    let artifacts = ArtifactMark.all(
      of: report, in: OutputLayout(root: output, name: report.id)
    ).filter { made.contains($0.stage) }
    let line = CaptureLine(
      name: report.id, outcome: outcome,
      peakMemoryBytes: report.stages.compactMap(\.peakMemoryBytes).max(),
      seconds: clock.monotonicSeconds() - (began ?? clock.monotonicSeconds()),
      artifacts: artifacts)
    write(.capture(line), durably: true)
  }
}

/// The index and the resources of an array task, as the batch system states them to its program.
public struct TaskEnvironment: Hashable, Sendable {
  /// Index in its array.
  public var index: Int
  /// The batch system's name of the task, such as `123_45`.
  var job: String
  /// Number of cores; `nil` for all cores of the machine.
  public var cores: Int?
  /// Memory limit; `nil` if unknown.
  var memoryBytes: Int64?
  /// The batch system's name of the node; `nil` if unknown.
  var node: String?
  /// A folder on the node's own disk for this job only; `nil` if there is none.
  public var scratch: String?
}

/// Tests whether a lock that the supervisor holds can be taken from another machine. If so, the
/// file system keeps locks local to a machine or mount.
extension FileLock {
  /// Holds the lock for the lifetime of the result. `nil` if the lock file cannot be created or
  /// locked. On a file system without locks the result excludes no process (`FileLock.refusal`),
  /// and `canTakeProbe` is true everywhere.
  static func probe(in folder: HeldFolder, run: String) -> FileLock? {
    try? FileLock(in: folder, name: RunFiles.probeName, holder: "supervisor of \(run)") { _ in false
    }
  }

  /// Whether the lock could be taken; `nil` if there is no file to test.
  static func canTakeProbe(in folder: HeldFolder) -> Bool? {
    guard let there = try? folder.entry(RunFiles.probeName), there.kind == .file else { return nil }
    return !isHeld(at: folder.path.appending(RunFiles.probeName))
  }
}
