import Captures
import Engine
import Core

/// Records how each capture of a run ended: once in the report, in `decided.jsonl` and as an event.
/// After the first failure of a fail-fast run it cancels pending array tasks.
final class CaptureOutcomes {
  private let context: ClusterContext
  private let decisions: DecisionLog?
  private var builder: RunReportBuilder
  /// Names of ended captures; `true` unless the capture failed.
  private var ended: [String: Bool] = [:]
  /// Whether an array task of this run has processed a capture without failure.
  private(set) var hasProcessed = false
  /// Whether pending array tasks were cancelled because of a failure.
  private(set) var hasCancelledWaiting = false

  /// Sends the event that the run has begun.
  ///
  /// - Parameters:
  ///   - decisions: `nil` if they cannot be written. A process that continues the run then decides
  ///     again.
  ///   - declined: paths that led to no capture.
  init(
    _ context: ClusterContext, _ decisions: DecisionLog?, declined: [CaptureFinder.Finding]
  ) {
    self.context = context
    self.decisions = decisions
    builder = RunReportBuilder(
      context.targets, declined: declined, run: context.plan.run, clock: context.clock,
      events: context.events)
  }

  func hasEnded(_ name: String) -> Bool { ended[name] != nil }

  var endedCount: Int { ended.count }
  var failedCount: Int { ended.values.count { !$0 } }

  // MARK: Captures without an array task

  /// Records a capture that had no work when the run was planned.
  func settle(_ index: Int, _ report: CaptureReport) {
    ended[report.id] = true
    builder.start(index)
    builder.finish(index, CaptureOutcome(report))
  }

  /// Records a capture that no longer needs an array task.
  func settleLate(_ index: Int, _ outcome: CaptureOutcome) {
    ended[outcome.report.id] = true
    builder.finish(index, outcome)
  }

  /// Records a capture whose end an earlier process of the run has decided. Sends no events.
  func know(_ name: String, _ outcome: CaptureOutcome) {
    guard let index = context.indices[name] else { return }
    ended[name] = !outcome.hasFailed
    builder.know(index, outcome)
  }

  /// Records a capture that will not be started. Does nothing if it has ended.
  func skip(_ name: String, _ why: RunReportBuilder.SkipReason) {
    guard let index = context.indices[name], ended[name] == nil else { return }
    ended[name] = true
    builder.skip(index, why)
  }

  // MARK: Captures of array tasks

  /// Records the end of a capture. Does nothing if it has ended before.
  ///
  /// - Parameters:
  ///   - element: its array task; `nil` for one of another run.
  ///   - line: its line in the results; `nil` without one.
  func finish(_ outcome: CaptureOutcome, of element: LiveElement?, _ line: CaptureLine?) {
    let name = outcome.report.id
    guard let index = context.indices[name], ended[name] == nil else { return }
    var outcome = outcome
    if let element { Self.note(element, line, in: &outcome.report) }
    ended[name] = !outcome.hasFailed
    if element != nil, line != nil, !outcome.hasFailed { hasProcessed = true }
    decisions?.append(name, outcome)
    builder.finish(index, outcome)
    guard context.plan.options.failFast, builder.hasFailed, !hasCancelledWaiting else { return }
    hasCancelledWaiting = true
    context.system.cancel(context.elements.jobs, .waiting)
  }

  /// Adds to the report where the capture ran, what was requested for it and what it used.
  private static func note(
    _ element: LiveElement, _ line: CaptureLine?, in report: inout CaptureReport
  ) {
    let history = element.captures.first { $0.name == report.id }?.history
    report.attempts = history?.attempts
    report.job = element.begin?.job ?? element.task?.text
    report.node = element.begin?.host
    var asked = AskedFor(
      cores: element.request.cores, memoryBytes: element.request.memoryBytes,
      timeSeconds: element.request.timeSeconds)
    if let submitted = element.submittedSeconds, let begun = element.begunSeconds {
      asked.waitedSeconds = max(0, begun - submitted)
    }
    asked.usedSeconds = line?.seconds
    asked.usedMemoryBytes = line?.peakMemoryBytes
    report.asked = asked
  }

  // MARK: End of the run

  /// Records all captures that have not ended as interrupted.
  func interruptRest() {
    for target in context.targets { skip(target.layout.name, .interrupted) }
  }

  /// The report of all captures, in order. Sends the event that the run is over.
  func close() -> RunReport { builder.close() }
}
