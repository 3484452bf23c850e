import Captures
import Output
import Pipeline
import Runner
import Storage

/// How the captures of a run have ended: notes each once, in the report, in `decided.jsonl` and by events. After the
/// first failure of a run that is to stop there it cancels what waits.
final class ClusterLedger {
  private let context: ClusterContext
  private let elements: LiveElements
  private let decisions: DecisionLog?
  private var builder: RunReportBuilder
  /// Captures that have ended, and whether well.
  private var ended: [String: Bool] = [:]
  /// Whether any element of this run has brought a capture to a good end.
  private(set) var hasProcessed = false
  /// Whether nothing more is to begin, because of a failure.
  private(set) var hasCancelledWaiting = false

  /// Tells that the run has begun.
  ///
  /// - Parameters:
  ///   - decisions: `nil` where they cannot be written: who goes on with the run decides again.
  ///   - declined: paths that led to no capture.
  init(
    _ context: ClusterContext, _ elements: LiveElements, _ decisions: DecisionLog?,
    declined: [CaptureFinder.Finding]
  ) {
    self.context = context
    self.elements = elements
    self.decisions = decisions
    builder = RunReportBuilder(
      context.targets, declined: declined, run: context.plan.run, clock: context.clock,
      events: context.events)
  }

  func hasEnded(_ name: String) -> Bool { ended[name] != nil }

  var endedCount: Int { ended.count }
  var failedCount: Int { ended.values.count { !$0 } }

  // MARK: Without an element

  /// A capture that had nothing to do when the run was planned.
  func settle(_ index: Int, _ report: CaptureReport) {
    ended[report.id] = true
    builder.start(index)
    builder.finish(index, CaptureOutcome(report))
  }

  /// A capture that needs no element any more.
  func settleLate(_ index: Int, _ outcome: CaptureOutcome) {
    ended[outcome.report.id] = true
    builder.finish(index, outcome)
  }

  /// A capture that an earlier process of the run decided about. Nobody is told of it again.
  func know(_ name: String, _ outcome: CaptureOutcome) {
    guard let index = context.indices[name] else { return }
    ended[name] = !outcome.hasFailed
    builder.know(index, outcome)
  }

  /// A capture that is not begun; nothing if it has ended.
  func skip(_ name: String, _ why: RunReportBuilder.SkipReason) {
    guard let index = context.indices[name], ended[name] == nil else { return }
    ended[name] = true
    builder.skip(index, why)
  }

  // MARK: With an element

  /// A capture has ended; nothing if it had before.
  ///
  /// - Parameters:
  ///   - element: the one that had it; `nil` for one of another run.
  ///   - line: what the element wrote of it; `nil`: nothing.
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
    context.system.cancel(elements.jobs, .waiting)
  }

  /// Where it ran, what was asked for it and what it used.
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

  // MARK: The end

  /// All that have not ended are interrupted.
  func interruptRest() {
    for target in context.targets { skip(target.layout.name, .interrupted) }
  }

  /// The report of all captures, in their order. Tells that the run is over.
  func close() -> RunReport { builder.close() }
}
