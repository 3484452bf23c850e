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

  public init(
    registry: CaptureRegistry, pipeline: PipelineDefinition, options: RunOptions,
    clock: RunClock = .system
  ) {
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

  /// Runs everything, one capture after the other; `journal` and other sinks hear what happens.
  ///
  /// Never throws: every capture ends in the report. `declined` are paths that led to no capture.
  public func run(
    _ targets: [CaptureTarget], declined: [CaptureFinder.Finding], run: String,
    events: any EventSink, cancellation: Cancellation
  ) -> RunReport {
    var report = RunReport(run: run)
    var hadOutputFailure = false
    var wasLocked = false
    let budget = CoreBudget(cores: options.cores)
    events.send(RunEvent(.runStarted, time: clock.wallText()))
    for finding in declined {
      report.captures.append(
        CaptureReport(
          id: finding.path.lastComponent?.string ?? "", path: finding.path.string, family: nil,
          outcome: .failed, message: finding.declined))
    }
    for target in targets {
      let hasFailed = report.captures.contains { $0.outcome == .failed }
      if cancellation.isCancelled || (options.failFast && hasFailed) {
        report.captures.append(
          target.report(.skipped, cancellation.isCancelled ? "interrupted" : "--fail-fast"))
        continue
      }
      var started = RunEvent(.captureStarted, time: clock.wallText(), capture: target.layout.name)
      started.message = target.recognition.folder.string
      events.send(started)
      let result = runOne(target, run, budget, events, cancellation)
      hadOutputFailure = hadOutputFailure || result.hadOutputFailure
      wasLocked = wasLocked || result.wasLocked
      report.captures.append(result.report)
      var finished = RunEvent(.captureFinished, time: clock.wallText(), capture: target.layout.name)
      finished.message = result.report.outcome.rawValue
      finished.warnings = result.report.warnings.isEmpty ? nil : result.report.warnings
      events.send(finished)
    }
    report.exit = ExitStatus.of(
      report, hadOutputFailure: hadOutputFailure, wasLocked: wasLocked)
    var end = RunEvent(.runFinished, time: clock.wallText())
    end.exit = report.exit
    events.send(end)
    return report
  }

  private func runOne(
    _ target: CaptureTarget, _ run: String, _ budget: CoreBudget, _ events: any EventSink,
    _ cancellation: Cancellation
  ) -> (report: CaptureReport, hadOutputFailure: Bool, wasLocked: Bool) {
    do {
      var isAnnounced = false
      var who = "another run"
      let lock = try FileLock(at: target.layout.lock, holder: "scanmill run \(run)") { holder in
        who = holder ?? who
        guard options.waitsForLocks, !cancellation.isCancelled else { return false }
        if !isAnnounced {
          var event = RunEvent(.waiting, time: clock.wallText(), capture: target.layout.name)
          event.message = "locked by \(who)"
          events.send(event)
        }
        isAnnounced = true
        return true
      }
      guard let lock else {
        if cancellation.isCancelled {
          return (target.report(.skipped, "interrupted"), false, false)
        }
        return (target.report(.skipped, "locked by \(who)"), false, true)
      }
      defer { withExtendedLifetime(lock) {} }
      try Publication.sweep(target.layout)
      let session = try CaptureSession(
        target.recognition, registry: registry, layout: target.layout, verify: options.verify,
        clock: clock)
      try session.removeInapplicable(for: pipeline)
      try session.writeDocument(for: pipeline)
      try session.remember(options.pipelineSource)
      let captureRun = CaptureRun(
        session, pipeline: pipeline, options: options, run: run, budget: budget, clock: clock,
        events: events, cancellation: cancellation)
      let report = captureRun.execute()
      Publication.tidy(target.layout)
      session.digests.save()
      try session.writeDocument(for: pipeline)
      session.writeIndex(for: pipeline)
      return (report, captureRun.hadOutputFailure, false)
    } catch {
      // Whatever a file under the output folder did not let us do: results cannot be written there.
      let isOutput = (error as? FileError).map { $0.path.starts(with: target.layout.root) } ?? false
      return (target.report(.failed, "\(error)"), isOutput, false)
    }
  }
}

/// A capture and where its results go.
public struct CaptureTarget: Sendable {
  public var recognition: Recognition
  public var layout: OutputLayout

  func report(_ outcome: CaptureReport.Outcome, _ message: String) -> CaptureReport {
    CaptureReport(
      id: layout.name, path: recognition.folder.string, family: recognition.family.rawValue,
      outcome: outcome, message: message)
  }
}
