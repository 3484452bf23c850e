import Captures
import Core
import SystemPackage

/// A run over any number of captures.
public struct BatchRun: Sendable {
  package let registry: CaptureRegistry
  /// What the run asks for.
  package let asking: RunRequest
  package var pipeline: PipelineDefinition { asking.pipeline }
  package let options: RunOptions
  let clock: RunClock
  /// Opens captures for planning.
  package let look: CaptureLook

  /// - Parameters:
  ///   - look: opens captures that are planned without being processed; by default in this process.
  ///   - stages: reads what captures were asked for before; `nil`: kinds that the pipeline has.
  public init(
    registry: CaptureRegistry, pipeline: PipelineDefinition, options: RunOptions,
    clock: RunClock = .system, look: CaptureLook? = nil, stages: StageRegistry? = nil
  ) {
    self.look = look ?? OpenedCapture.look(registry)
    self.registry = registry
    asking = RunRequest(pipeline, options, stages)
    self.options = options
    self.clock = clock
  }

  /// The captures that were found, in path order, each once, with the output folder that is theirs
  /// (`Ownership`). Writes nothing.
  public func targets(_ findings: [CaptureFinder.Finding]) -> [CaptureTarget] {
    var seen: Set<CaptureLocation> = []
    var identities: [FilePath: FileID] = [:]
    var seenFolders: Set<[String]> = []
    let captures = findings.flatMap(\.captures).filter { capture in
      guard seen.insert(CaptureLocation(capture)).inserted else { return false }
      // A link, a bind mount or a second name of the file leads to the same place under another path.
      guard let identity = identities[capture.path] ?? CaptureLocation(capture).id else {
        return true
      }
      identities[capture.path] = identity
      return seenFolders.insert(["\(identity)", capture.stem ?? ""]).inserted
    }
    return Ownership(root: options.output).resolve(
      captures.map { (path: $0.path.text, capture: $0) }
        .sorted { ($0.path, $0.capture.id) < ($1.path, $1.capture.id) }.map(\.capture))
  }

  /// Runs everything inline, one capture after the other: what a crash would cost is the whole run.
  /// Users get `Supervisor`; tests and debuggers this.
  ///
  /// Never throws: every capture ends in the report. `declined` are paths that led to no capture.
  public func run(
    _ targets: [CaptureTarget], declined: [CaptureFinder.Finding], run: String,
    events: any EventSink, cancellation: Cancellation, interruption: Interruption? = nil
  ) -> RunReport {
    let interruption = interruption ?? Interruption(abort: cancellation)
    var builder = RunReportBuilder(
      targets, declined: declined, run: run, clock: clock, events: events)
    var options = options
    options.outputPlace = OutputGuard(options.output)
    let task = CaptureTask(
      registry: registry, asking: asking, options: options, clock: clock, run: run,
      budget: CoreBudget(cores: options.cores), events: events, interruption: interruption)
    for (index, target) in targets.enumerated() {
      if interruption.isRequested {
        builder.skip(index, .interrupted)
      } else if options.failFast, builder.hasFailed {
        builder.skip(index, .failFast)
      } else {
        builder.start(index)
        builder.finish(index, task.execute(target))
      }
    }
    ScratchFolder.end(options, run: run)
    return builder.close()
  }
}

/// Opens a capture to say what planning needs to know of it.
public typealias CaptureLook = @Sendable (Recognition) throws(CaptureError) -> OpenedCapture

extension OpenedCapture {
  /// A look in this process.
  static func look(_ registry: CaptureRegistry) -> CaptureLook {
    { (recognition) throws(CaptureError) in
      OpenedCapture(try registry.open(recognition), of: recognition, registry)
    }
  }

  init(_ capture: Capture, of recognition: Recognition, _ registry: CaptureRegistry) {
    self.init(
      capture,
      CaptureSummary(capture, readerVersion: registry.readerVersion(of: recognition.family)))
  }
}
