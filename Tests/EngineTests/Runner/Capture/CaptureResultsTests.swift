@testable import Captures
@testable import Engine
import SystemPackage
import Testing

@Suite("The report that the stages of a capture add up to")
struct CaptureResultsTests {
  private static func report(
    _ outcomes: [RunOutcome], isStrict: Bool = false, warnings: [CaptureWarning] = []
  ) -> CaptureReport {
    let results = outcomes.enumerated().map { number, outcome in
      var result = JobResult(
        report: StageReport(stage: "s\(number)", uses: "toy", outcome: outcome))
      result.warnings = number == 0 ? warnings : []
      return result
    }
    var report = CaptureReport(id: "scan", path: "/in", family: nil, outcome: .upToDate)
    report.take(
      results, found: [CaptureWarning(.frameGap, "color", count: 1, "a gap")], isStrict: isStrict)
    return report
  }

  @Test(
    "The worst of its stages is the outcome of a capture",
    arguments: [
      ([.made, .upToDate, .notPossible], .made), ([.made, .blocked], .blocked),
      ([.failed, .blocked], .failed), ([], .upToDate), ([.upToDate, .notPossible], .upToDate),
      ([.made, .interrupted], .interrupted), ([.failed, .interrupted], .failed),
    ] as [([RunOutcome], RunOutcome)])
  func outcome(stages: [RunOutcome], outcome: RunOutcome) {
    let report = Self.report(stages)
    #expect(report.outcome == outcome)
    #expect(report.stages.map(\.outcome) == stages)
  }

  @Test("Warnings of opening and of the stages stand in it, and fail a strict run only")
  func strict() {
    let more = [CaptureWarning(.emptyRecord, "color", count: 2, "empty")]
    let report = Self.report([.upToDate], isStrict: true, warnings: more)
    #expect(report.warnings.map(\.code) == [.frameGap, .emptyRecord])
    #expect(report.outcome == .failed)
    #expect(
      report.why.message
        == "--strict: there are 2 kinds of warnings, 3 occurrences; run without it to accept them")
    #expect(Self.report([.upToDate], warnings: more).outcome == .upToDate)
    // What failed for a better reason says that.
    #expect(Self.report([.failed], isStrict: true).why.message == nil)
  }

  @Test("The cause of its failures that decides stands in it")
  func causes() {
    let results = [("a", FailureSide.input, Errno.isDirectory), ("b", .output, .noSpace)].map {
      name, side, errno in
      var result = JobResult(report: StageReport(stage: name, uses: "toy", outcome: .failed))
      result.report.why = FailureTable.failure(side, errno)
      return result
    }
    var report = CaptureReport(id: "scan", path: "/in", family: nil, outcome: .made)
    report.take(results, found: [], isStrict: false)
    #expect(report.stages.map(\.why.cause) == [.input, .machine] && report.why.cause == .machine)
  }
}
