import Captures
import FoundationEssentials
import Engine
import Core
import SystemPackage

/// Answers the questions of an intake: from what earlier runs noted, and by opening captures where they noted nothing.
/// On all cores.
struct CaptureStatusResolver: Sendable {
  let work: WatchWork
  let triage: Triage
  let clock: RunClock

  func key(_ stamp: FolderSignature) -> String {
    Triage.key(stamp, program: work.program, pipeline: work.pipelineKey)
  }

  func answers(
    _ questions: [IntakeQuestion]
  ) -> [(IntakeQuestion, IntakeAnswer)] {
    let known = questions.filter { $0.target != nil }
    // Before it is looked whether they are done: what goes from them afterwards makes another signature.
    let signatures = known.map { $0.target.flatMap { OutputSignature(of: $0.layout) } }
    var upToDate = work.batch.upToDate(known.compactMap(\.target))
    let outdated = known.indices.filter { upToDate[$0] == nil }
    let byTimes = work.batch.upToDateByTimes(outdated.compactMap { known[$0].target })
    var unverified: Set<Int> = []
    for (index, report) in zip(outdated, byTimes) where report != nil {
      upToDate[index] = report
      unverified.insert(index)
    }
    var answers: [(IntakeQuestion, IntakeAnswer)] = []
    var open: [(IntakeQuestion, CaptureTarget)] = []
    for (index, (question, report)) in zip(known, upToDate).enumerated() {
      guard let target = question.target else { continue }
      if let report, report.outcome == .done {
        let hasWarnings = !report.warningCount.isNone || !report.missing.isEmpty
        answers.append(
          (
            question,
            .done(
              hasWarnings: hasWarnings, isShort: report.hasShortfall, missing: report.missing,
              isUnverified: unverified.contains(index), signatures[index])
          ))
      } else if let trouble = noted(question, target) {
        answers.append((question, trouble.isQuarantined ? .quarantined(trouble) : .failed(trouble)))
      } else if question.mayOpen, !question.asksForFiles {
        answers.append((question, .ready))
      } else {
        open.append((question, target))
      }
    }
    let opened = try? concurrentMap(count: open.count) { [open] index in
      let (question, target) = open[index]
      // Whole or not, a run has worked on these very files: they are neither waited for nor have to come to rest.
      if work.batch.hasWorkedOn(target, isAtRest: question.mayOpen) {
        return (question, IntakeAnswer.ready)
      }
      return (question, question.mayOpen ? lacking(target, question.waitsFor) : .unknown)
    }
    return answers + (opened ?? open.map { ($0.0, IntakeAnswer.ready) })
  }

  private func noted(_ question: IntakeQuestion, _ target: CaptureTarget) -> AttemptFailure? {
    guard let record = TriageRecord(of: target.layout), record.key == key(question.stamp) else {
      return nil
    }
    return triage.trouble(
      noted: record, nowSeconds: clock.monotonicSeconds(), now: Date.now)
  }

  /// A capture that cannot be opened is ready: its worker says why; unless an upload server waits for files of it.
  private func lacking(_ target: CaptureTarget, _ waitsFor: [String]) -> IntakeAnswer {
    let summary = try? work.batch.summary(of: target)
    var missing = summary?.missingFiles ?? []
    missing += waitsFor.filter { !missing.contains($0) }
    return missing.isEmpty ? .ready : .incomplete(missing: missing, device: summary?.deviceID)
  }
}
