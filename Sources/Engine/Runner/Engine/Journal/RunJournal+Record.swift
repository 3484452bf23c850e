import FoundationEssentials
import Core
import Synchronization
import SystemPackage

/// `run.json`: there from the start of a run, replaced at its end.
extension RunJournal {
  /// What the journal keeps in mind for it.
  struct Recorded {
    var context: RunContext?
    var started: String
    var startedSeconds: Double
    /// Captures that have ended.
    var captures: [CaptureReport] = []
    var isFinished = false

    init(started: String, startedSeconds: Double) {
      self.started = started
      self.startedSeconds = startedSeconds
    }

    /// From a `run.json` that another process wrote. Its clock counts from another moment: how long ago the
    /// run began is told by the wall's.
    init(resuming bytes: [UInt8], nowSeconds: Double) throws {
      let file = try RunFile(bytes)
      guard let began = file.started else {
        throw DecodingError.dataCorrupted(
          DecodingError.Context(codingPath: [], debugDescription: "no time of its start"))
      }
      started = began
      context = file.context
      let age = UTCText.nanoseconds(began).map { FileStamp.nowNanoseconds() &- $0 } ?? 0
      startedSeconds = nowSeconds - max(0, Double(age) / 1e9)
    }
  }

  /// Writes `run.json` of a run that starts, and its pipeline beside it.
  ///
  /// - Parameter pipeline: the text of the pipeline, without secrets.
  public func begin(_ context: RunContext, pipeline: String) throws {
    let bytes = try recorded.withLock { recorded in
      recorded.context = context
      return try JSONText.pretty(record(RunReport(run: id), recorded, isFinished: false))
    }
    try held.replace(OutputNames.pipeline, with: Array(pipeline.utf8))
    try held.replace(OutputNames.run, with: bytes)
  }

  /// Writes `run.json` for the last time. Only the first end counts.
  public func finish(_ report: RunReport) throws {
    let bytes = try recorded.withLock { recorded -> [UInt8]? in
      if recorded.isFinished { return nil }
      recorded.isFinished = true
      return try JSONText.pretty(record(report, recorded, isFinished: true))
    }
    if let bytes { try held.replace(OutputNames.run, with: bytes) }
  }

  /// For an end that cannot wait for the run: writes what has ended so far. Failing to is not reported.
  public func abandon(exit: Int) {
    var report = RunReport(run: id)
    report.exit = exit
    report.captures = recorded.withLock { $0.captures }
    try? finish(report)
  }

  private func record(
    _ report: RunReport, _ recorded: Recorded, isFinished: Bool
  ) -> RunRecord {
    var report = report
    let seconds = clock.monotonicSeconds() - recorded.startedSeconds
    if report.totals == RunTotals() {
      report.totals = RunTotals(
        report.captures, unrecognized: report.unrecognized.count, wallSeconds: seconds)
    }
    return RunRecord(
      report: report, context: recorded.context, started: recorded.started,
      finished: isFinished ? clock.wallText() : nil, seconds: seconds)
  }
}

/// Hears of captures that have ended, with all that is known of them.
public protocol ReportSink: EventSink {
  func send(_ outcome: CaptureOutcome)
}

extension RunJournal: ReportSink {
  public func send(_ outcome: CaptureOutcome) {
    recorded.withLock { $0.captures.append(outcome.report) }
  }
}

extension EventFan: ReportSink {
  public func send(_ outcome: CaptureOutcome) {
    for case let sink as any ReportSink in sinks { sink.send(outcome) }
  }
}
