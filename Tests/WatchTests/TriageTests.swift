@testable import Captures
import FoundationEssentials
@testable import Engine
@testable import Core
import Testing

@testable import Watch

@Suite("Failures are tried again or left to a person, by their cause")
struct TriageTests {
  private static func triage() -> Triage {
    var settings = WatchSettings()
    settings.attempts = 3
    settings.retryAfterSeconds = 900
    settings.pollSeconds = 30
    return Triage(settings: settings)
  }

  private static func report(
    _ cause: FailureCause?, _ code: FailureDetail.Code? = nil
  ) -> CaptureReport {
    var report = CaptureReport(
      id: "a", path: "/s/a", family: "strabo", outcome: .failed,
      why: Failure(message: "why", cause: cause))
    var stage = StageReport(stage: "depth", uses: "decompress-depth", outcome: .failed)
    stage.why = Failure(
      message: "line 1\nline 2\nline 3\nline 4\nline 5", cause: cause,
      detail: code.map { FailureDetail($0) })
    report.stages = [stage]
    return report
  }

  private static func record(
    attempts: Int, cause: FailureCause = .program, time: String = "t", retryAt: String? = nil
  ) -> Failure {
    Failure(
      message: "m", cause: cause, attempts: attempts, time: time, retryAt: retryAt, run: "r")
  }

  struct Row: Sendable, CustomTestStringConvertible {
    var cause: FailureCause?
    var code: FailureDetail.Code?
    var before: Int?
    var isGone = false
    var tries = 0
    var attempts: Int
    var isQuarantined: Bool
    var pauseSeconds: Double?
    var testDescription: String { "\(cause.map(\.rawValue) ?? "none") after \(before ?? 0)" }
  }

  @Test(
    "Attempts, quarantine and pauses",
    arguments: [
      Row(cause: .input, attempts: 1, isQuarantined: true),
      Row(cause: .program, attempts: 1, isQuarantined: false, pauseSeconds: 900),
      Row(cause: .program, before: 1, attempts: 2, isQuarantined: false, pauseSeconds: 1800),
      Row(cause: .program, before: 2, attempts: 3, isQuarantined: true),
      Row(cause: .program, code: .killed, attempts: 1, isQuarantined: false, pauseSeconds: 900),
      // Nothing but a person moves it away.
      Row(cause: .program, code: .notOurs, attempts: 1, isQuarantined: true),
      Row(cause: nil, attempts: 1, isQuarantined: false, pauseSeconds: 900),
      Row(cause: .machine, attempts: 0, isQuarantined: false, pauseSeconds: 30),
      Row(
        cause: .machine, before: 2, tries: 2, attempts: 2, isQuarantined: false, pauseSeconds: 120),
      Row(cause: .machine, tries: 50, attempts: 0, isQuarantined: false, pauseSeconds: 900),
      // Its place is gone: whatever failed, it is not to blame.
      Row(cause: .input, isGone: true, attempts: 0, isQuarantined: false, pauseSeconds: nil),
    ])
  func table(row: Row) {
    let trouble = Self.triage().failure(
      after: Self.report(row.cause, row.code), attemptsBefore: row.before,
      machineTries: row.tries, isGone: row.isGone, nowSeconds: 100, now: Date.now)
    #expect(trouble.attempts == row.attempts)
    #expect(trouble.isQuarantined == row.isQuarantined)
    #expect(trouble.retryAtSeconds == row.pauseSeconds.map { $0 + 100 })
    #expect((trouble.retryAt != nil) == (row.pauseSeconds != nil))
    #expect(trouble.message == "line 1\nline 2\nline 3\nline 4")
    #expect(trouble.stage == "depth")
    #expect(trouble.detail?.code == (row.isGone ? .inputGone : row.code))
  }

  @Test("Pauses double up to a day, also after a thousand attempts")
  func longest() {
    let settings = WatchSettings()
    #expect(settings.pauseSeconds(afterAttempt: 8) == 86_400)
    #expect(settings.pauseSeconds(afterAttempt: 1_000) == 86_400)
  }

  @Test(
    "A pause that an earlier watcher noted goes on from the failure; what is due is tried at once",
    arguments: [
      (1, "21:55", "22:10", 600),
      (1, "21:45", "22:00", nil),
      (1, "12:00", "12:15", nil),
      (2, "21:50", "22:20", 1200),
      // A pause that is shorter by now counts.
      (1, "21:55", "23:15", 600),
      (1, "21:40", "23:15", nil),
      // The wall clock went back behind the failure.
      (1, "22:01", "22:16", nil),
    ] as [(Int, String, String, Double?)])
  func noted(attempts: Int, failed: String, retryAt: String, left: Double?) throws {
    let now = try #require(MomentText.date(of: "2026-11-20T22:00:00.000Z"))
    let record = Self.record(
      attempts: attempts, time: "2026-11-20T\(failed):00.000Z",
      retryAt: "2026-11-20T\(retryAt):00.000Z")
    let failure = Self.triage().failure(noted: record, nowSeconds: 100, now: now)
    #expect(failure?.retryAtSeconds == left.map { 100 + $0 })
    #expect(failure == nil || failure?.attempts == attempts)
  }

  @Test("Trouble of the machine is tried at once by another watcher")
  func notedMachine() {
    let failure = Self.triage().failure(
      noted: Self.record(attempts: 0, cause: .machine), nowSeconds: 0, now: Date.now)
    #expect(failure == nil)
  }

  @Test("Times are written and read alike")
  func times() throws {
    let date = try #require(MomentText.date(of: "2026-11-20T22:00:00.250Z"))
    #expect(MomentText.utc(date) == "2026-11-20T22:00:00.250Z")
    #expect(MomentText.date(of: "2026-11-20T22:00:00Z") != nil)
    #expect(MomentText.date(of: "yesterday") == nil)
  }

  @Test("Other files, another program or another pipeline are another beginning")
  func keys() {
    let program = ProgramIdentity(version: "1", commit: "a", libraries: [:])
    let other = ProgramIdentity(version: "1", commit: "b", libraries: [:])
    let keys = [
      Triage.key(FolderSignature(text: "x"), program: program, pipeline: "p"),
      Triage.key(FolderSignature(text: "y"), program: program, pipeline: "p"),
      Triage.key(FolderSignature(text: "x"), program: other, pipeline: "p"),
      Triage.key(FolderSignature(text: "x"), program: program, pipeline: "q"),
    ]
    #expect(Set(keys).count == 4)
  }
}
