import Captures

/// What the events of a worker have told about its capture: enough for a report when it ends without
/// giving one.
struct PartialReport {
  private var order: [String] = []
  private var reports: [String: StageReport] = [:]
  private var warnings: [CaptureWarning] = []
  /// Stages at work, in the order in which they started.
  private(set) var running: [String] = []

  mutating func hear(_ event: RunEvent) {
    guard let stage = event.stage else { return }
    switch event.kind {
    case .planned:
      order.append(stage)
      reports[stage] = StageReport(stage: stage, uses: event.uses ?? "", outcome: .cancelled)
    case .started:
      running.removeAll { $0 == stage }
      running.append(stage)
    case .finished, .blocked:
      running.removeAll { $0 == stage }
      guard let outcome = event.outcome else { return }
      var report = StageReport(stage: stage, uses: event.uses ?? "", outcome: outcome)
      report.reason = event.reason
      report.message = event.message
      report.cause = event.cause
      report.seconds = event.seconds
      report.frames = event.frames
      if let frames = event.frames, let seconds = event.seconds, seconds > 0, outcome == .ran {
        report.framesPerSecond = Double(frames) / seconds
      }
      if reports[stage] == nil { order.append(stage) }
      reports[stage] = report
      warnings = warnings.merged(with: event.warnings ?? [])
    case .runStarted, .captureStarted, .waiting, .locksNotShared, .progress, .retried, .stopping,
      .captureFinished, .cluster, .elementStarted, .elementEnded, .elementRetried, .elementLost,
      .runFinished:
      break
    }
  }

  /// The report of a capture whose worker is gone: what ran has failed for the reason given (or was
  /// `cancelled`), what had not started never will.
  func report(
    of target: CaptureTarget, why: String, cause: FailureCause, isInterrupted: Bool
  ) -> CaptureReport {
    var report =
      isInterrupted
      ? target.report(.interrupted, why) : target.report(.failed, why, cause: cause)
    report.warnings = warnings
    report.stages = order.compactMap { stage in
      guard var entry = reports[stage] else { return nil }
      if running.contains(stage) {
        entry.outcome = isInterrupted ? .cancelled : .failed
        entry.message = why
        entry.cause = isInterrupted ? nil : cause
      } else if entry.outcome == .cancelled, entry.message == nil {
        entry.message = "not started"
      }
      return entry
    }
    if !running.isEmpty { report.message = nil }
    if isInterrupted, report.stages.contains(where: { $0.outcome == .failed }) {
      report.outcome = .failed
    }
    let causes = report.stages.compactMap(\.cause) + (report.cause.map { [$0] } ?? [])
    report.cause = FailureCause.deciding(causes)
    return report
  }
}
