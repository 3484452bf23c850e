import Captures
import Parallel
import Pipeline
import Storage
import SystemPackage

/// A run over any number of captures.
public struct BatchRun: Sendable {
  let registry: CaptureRegistry
  let pipeline: PipelineDefinition
  let options: RunOptions
  let clock: RunClock
  /// Opens captures for planning.
  let look: CaptureLook

  /// - Parameter look: opens captures that are planned without being processed; by default in this
  ///   process.
  public init(
    registry: CaptureRegistry, pipeline: PipelineDefinition, options: RunOptions,
    clock: RunClock = .system, look: CaptureLook? = nil
  ) {
    self.look = look ?? CaptureSummary.look(registry)
    self.registry = registry
    self.pipeline = pipeline
    self.options = options
    self.clock = clock
  }

  /// The captures behind `paths` with the output folder of each, in path order; equal ids get `~2`,
  /// `~3`, …
  public func targets(_ findings: [CaptureFinder.Finding]) -> [CaptureTarget] {
    var seenPlaces: Set<String> = []
    var used: [String: Int] = [:]
    return findings.flatMap(\.captures)
      .filter { seenPlaces.insert("\($0.folder)\0\($0.stem ?? "")").inserted }
      .sorted { ($0.folder.string, $0.id) < ($1.folder.string, $1.id) }
      .map { recognition in
        let name = OutputLayout.folderName(forID: recognition.id)
        used[name, default: 0] += 1
        let count = used[name] ?? 1
        return CaptureTarget(
          recognition: recognition,
          layout: OutputLayout(root: options.output, name: count == 1 ? name : "\(name)~\(count)"))
      }
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
    var ledger = RunLedger(targets, declined: declined, run: run, clock: clock, events: events)
    var options = options
    options.outputPlace = OutputPlace(options.output)
    let task = CaptureTask(
      registry: registry, pipeline: pipeline, options: options, clock: clock, run: run,
      budget: CoreBudget(cores: options.cores), events: events, interruption: interruption)
    for (index, target) in targets.enumerated() {
      if interruption.isRequested {
        ledger.skip(index, .interrupted)
      } else if options.failFast, ledger.hasFailed {
        ledger.skip(index, .failFast)
      } else {
        ledger.start(index)
        ledger.finish(index, task.execute(target))
      }
    }
    return ledger.close()
  }
}

/// A capture and where its results go.
public struct CaptureTarget: Sendable, Codable {
  public var recognition: Recognition
  public var layout: OutputLayout

  func report(
    _ outcome: CaptureReport.Outcome, _ message: String, cause: FailureCause? = nil
  ) -> CaptureReport {
    CaptureReport(
      id: layout.name, path: recognition.folder.string, family: recognition.family.rawValue,
      outcome: outcome, message: message, cause: cause)
  }
}
