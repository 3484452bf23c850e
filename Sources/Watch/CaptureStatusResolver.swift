import Captures
import FoundationEssentials
import Output
import Parallel
import Pipeline
import Runner
import Storage
import SystemPackage

/// Finds out what a intake asks: from what earlier runs noted, and by opening captures where they noted
/// nothing. On all cores.
struct CaptureStatusResolver: Sendable {
  let work: WatchWork
  let triage: Triage
  let clock: RunClock

  func key(_ stamp: FolderSignature) -> String {
    Triage.key(stamp, program: work.program, pipeline: work.pipelineKey)
  }

  func answers(
    _ questions: [IntakeState.Question]
  ) -> [(IntakeState.Question, IntakeState.Answer)] {
    let known = questions.filter { $0.target != nil }
    let settled = work.batch.settled(known.compactMap(\.target))
    var answers: [(IntakeState.Question, IntakeState.Answer)] = []
    var open: [(IntakeState.Question, CaptureTarget)] = []
    for (question, report) in zip(known, settled) {
      guard let target = question.target else { continue }
      if let report, report.outcome == .done {
        let hasWarnings = !report.warningCount.isNone || !report.missing.isEmpty
        answers.append(
          (
            question,
            .done(
              hasWarnings: hasWarnings, isShort: report.isShort, OutputSignature(of: target.layout))
          ))
      } else if let trouble = noted(question, target) {
        answers.append((question, trouble.isQuarantined ? .quarantined(trouble) : .failed(trouble)))
      } else if !question.mayOpen {
        answers.append((question, .unknown))
      } else if question.asksForFiles {
        open.append((question, target))
      } else {
        answers.append((question, .ready))
      }
    }
    let opened = try? concurrentMap(count: open.count) { [open] index in
      let (question, target) = open[index]
      return (question, lacking(target))
    }
    return answers + (opened ?? open.map { ($0.0, .ready) })
  }

  private func noted(_ question: IntakeState.Question, _ target: CaptureTarget) -> AttemptFailure? {
    guard let record = TriageRecord(of: target.layout), record.key == key(question.stamp) else {
      return nil
    }
    return triage.trouble(
      noted: record, nowSeconds: clock.monotonicSeconds(), now: Date.now)
  }

  /// A capture that cannot be opened is ready: its worker says why.
  private func lacking(_ target: CaptureTarget) -> IntakeState.Answer {
    guard let summary = try? work.batch.summary(of: target), let missing = summary.missingFiles,
      !missing.isEmpty
    else { return .ready }
    return .incomplete(missing: missing, device: summary.deviceID)
  }
}
