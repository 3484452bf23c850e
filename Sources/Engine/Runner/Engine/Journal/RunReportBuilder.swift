import Captures
import Core
import SystemPackage

/// What has become of the captures of a run so far: every one ends in exactly one entry, in the order in
/// which they were given, whatever the order in which they end.
package struct RunReportBuilder {
  private var targets: [CaptureTarget]
  private let clock: RunClock
  private let events: any EventSink
  private let run: String
  private let declined: [CaptureReport]
  private let startSeconds: Double
  private var reports: [Int: CaptureReport] = [:]
  /// Exit codes that single captures ask for.
  private var codes: Set<Int> = []
  private var unreadable = 0
  private var notStarted = 0
  private var marks: MarkBook?
  package private(set) var hasFailed: Bool

  package init(
    _ targets: [CaptureTarget], declined: [CaptureFinder.Finding], run: String, clock: RunClock,
    events: any EventSink
  ) {
    self.targets = targets
    self.run = run
    self.clock = clock
    self.events = events
    startSeconds = clock.monotonicSeconds()
    self.declined = declined.map {
      CaptureReport(
        id: $0.path.shownName, path: $0.path.shown, family: nil, outcome: .failed,
        why: Failure(message: $0.declined))
    }
    hasFailed = !declined.isEmpty
    events.send(.runStarted, clock) { $0.total = targets.count }
  }

  /// One more, which came while the run went on.
  package mutating func append(_ target: CaptureTarget) { targets.append(target) }

  /// How many captures have ended, without those that are not started.
  private var ended: Int { reports.count - notStarted }

  package func start(_ index: Int) {
    let target = targets[index]
    events.send(.captureStarted, clock, capture: target.layout.name) {
      $0.message = target.recognition.path.shown
    }
  }

  /// Why a capture is not started.
  package enum SkipReason {
    case interrupted, failFast
  }

  package mutating func skip(_ index: Int, _ why: SkipReason) {
    if reports[index] == nil { notStarted += 1 }
    reports[index] =
      switch why {
      case .interrupted: targets[index].report(.interrupted, Failure(message: "not started"))
      case .failFast: targets[index].skipped("--fail-fast")
      }
  }

  package mutating func finish(_ index: Int, _ ended: CaptureOutcome) {
    let outcome = know(index, ended)
    let report = outcome.report
    events.send(.captureFinished, clock, capture: targets[index].layout.name) {
      $0.message = report.outcome.rawValue
      ($0.cause, $0.detail) = (report.why.cause, report.why.detail)
      $0.warnings = report.warnings.isEmpty ? nil : report.warnings
      $0.missing = report.missing.isEmpty ? nil : report.missing
      ($0.done, $0.total) = (self.ended, targets.count)
    }
    (events as? any ReportSink)?.send(outcome)
  }

  /// Adds an outcome that an earlier supervisor of the run has reported already.
  @discardableResult
  package mutating func know(_ index: Int, _ outcome: CaptureOutcome) -> CaptureOutcome {
    var outcome = outcome
    if !outcome.report.reasons.isEmpty {
      let target = targets[index]
      let marks = marks ?? MarkBook(ofOutput: target.layout.root)
      self.marks = marks
      outcome.report.mark = marks.mark(
        of: target.layout, at: CaptureLocation(resolving: target.recognition))
    }
    codes.formUnion(outcome.codes)
    unreadable += outcome.isUnreadable ? 1 : 0
    hasFailed = hasFailed || outcome.report.outcome == .failed
    reports[index] = outcome.report
    return outcome
  }

  /// The report of the run, which is over now.
  package func close() -> RunReport {
    var report = RunReport(run: run)
    report.captures =
      declined + targets.indices.map { reports[$0] ?? targets[$0].skipped("not started") }
    report.totals = RunTotals(
      report.captures, unrecognized: 0, seconds: clock.monotonicSeconds() - startSeconds)
    report.exit = ExitStatus.of(report, codes)
    // A capture that cannot be opened is 65 when it is all that was given.
    if report.exit == ExitStatus.jobFailed, unreadable == 1, report.captures.count == 1 {
      report.exit = ExitStatus.noCapture
    }
    events.send(.runFinished, clock) { $0.exit = report.exit }
    return report
  }
}
