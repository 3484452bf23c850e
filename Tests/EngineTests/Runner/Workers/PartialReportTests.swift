@testable import Captures
@testable import Engine
@testable import Core
import SystemPackage
import Testing

@Suite("The report of a capture whose worker is gone")
struct PartialReportTests {
  private static let target = CaptureTarget(
    recognition: Recognition(
      family: .scannet, certainty: .certain, folder: "/in/scan", id: "scan", reason: ""),
    layout: OutputLayout(root: "/out", name: "scan"))

  private static func event(
    _ kind: RunEvent.Kind, _ stage: String, _ change: (inout RunEvent) -> Void = { _ in }
  ) -> RunEvent {
    var event = RunEvent(kind: kind, time: "", capture: "scan", stage: stage)
    event.uses = "toy"
    change(&event)
    return event
  }

  private static func partialReport() -> PartialReport {
    var partialReport = PartialReport()
    for stage in ["color", "depth", "aligned", "tables"] {
      partialReport.hear(event(.planned, stage))
    }
    partialReport.hear(event(.started, "color"))
    partialReport.hear(event(.started, "depth"))
    partialReport.hear(event(.progress, "depth"))
    partialReport.hear(
      event(.finished, "color") {
        $0.outcome = .made
        $0.frames = 10
        $0.seconds = 2
        $0.warnings = [CaptureWarning(.frameGap, "color", count: 1, "a gap")]
      })
    return partialReport
  }

  @Test("What had ended stays as it was; what ran has failed, what had not started never will")
  func crash() {
    let report = Self.partialReport().report(
      of: Self.target, Failure(message: "crashed", cause: .program), isInterrupted: false)
    #expect(report.outcome == .failed && report.why.cause == .program)
    #expect(report.stages[1].why.cause == .program && report.stages[0].why.cause == nil)
    #expect(
      report.stages.map { "\($0.stage) \($0.outcome.rawValue) \($0.why.message ?? "-")" } == [
        "color made -", "depth failed crashed", "aligned interrupted not started",
        "tables interrupted not started",
      ])
    #expect(report.stages.first?.framesPerSecond == 5)
    #expect(report.warnings.map(\.code) == [.frameGap])
    // The stage says it.
    #expect(report.why.message == nil)
  }

  @Test("Killed after an interrupt, what ran was stopped and has not failed")
  func interrupt() {
    let report = Self.partialReport().report(
      of: Self.target, Failure(message: "killed", cause: .program), isInterrupted: true)
    #expect(report.stages[1].outcome == .interrupted)
    #expect(report.outcome == .interrupted && report.why.cause == nil)
  }

  @Test("A worker that ended before its first stage fails its capture with the reason")
  func early() {
    let report = PartialReport().report(
      of: Self.target, Failure(message: "crashed", cause: .program), isInterrupted: false)
    #expect(report.outcome == .failed && report.why.message == "crashed" && report.stages.isEmpty)
  }
}
