import Foundation
import FoundationEssentials
import SystemPackage
import TestSupport
import Testing

@testable import Captures
@testable import Core
@testable import Engine
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

@Suite("The comparison of contents, and results that go while it is made")
struct ContentCheckTests {
  private static func layout(_ folder: TemporaryFolder) throws -> OutputLayout {
    let layout = OutputLayout(root: folder.path, name: "a")
    for stage in ["imu", "depth"] {
      try FileSystem.makeFolder(layout.artifact(stage))
      try OutputFile.write(Array("{}".utf8), to: layout.record(stage))
    }
    return layout
  }

  @Test("Results that nobody touches have the signature that the next scan finds")
  func untouched() throws {
    let folder = try TemporaryFolder()
    let layout = try Self.layout(folder)
    let signature = ContentCheck.signature(of: layout) { true }
    #expect(signature != nil && signature == OutputSignature(of: layout))
  }

  @Test("What is gone before the last look at the results is asked about again")
  func goneBefore() throws {
    let folder = try TemporaryFolder()
    let layout = try Self.layout(folder)
    #expect(ContentCheck.signature(of: layout) { false } == nil)
  }

  @Test("What goes during the last look makes another signature, so that the next scan notices it")
  func goneMeanwhile() throws {
    let folder = try TemporaryFolder()
    let layout = try Self.layout(folder)
    let signature = ContentCheck.signature(of: layout) {
      _ = try? FileManager.default.removeItem(atPath: layout.artifact("depth").string)
      return true
    }
    #expect(signature != nil && signature != OutputSignature(of: layout))
  }
}

extension FolderSignature {
  /// One that differs from those of other texts.
  ///
  /// - Parameter mode: what changes of owner and mode leave the content of.
  init(text: String, isTransferring: Bool = false, mode: String = "") {
    self.init(digest: Digest(of: text + mode), content: Digest(of: text))
    temporaryFile = isTransferring ? "x.part" : nil
    files = [UInt64(Digest(of: text).hex.prefix(15), radix: 16) ?? 1]
  }
}

@Suite("When STAGING is scanned")
struct ScanScheduleTests {
  private static func settings() -> WatchSettings {
    var settings = WatchSettings()
    settings.settleSeconds = 60
    settings.pollSeconds = 30
    settings.patienceSeconds = 600
    return settings
  }

  private static func entry(
    _ phase: StagingEntry.Phase, since: Double = 0, isTransferring: Bool = false
  ) -> StagingEntry {
    StagingEntry(
      location: CaptureLocation("/s/a"), recognition: nil,
      stamp: FolderSignature(text: "1", isTransferring: isTransferring), sinceSeconds: since,
      restsFromSeconds: since, since: "", order: 1, phase: phase)
  }

  private static func retry(at seconds: Double?) -> StagingEntry.Phase {
    var failure = Failure(message: "", cause: .machine)
    failure.retryAtSeconds = seconds
    return .failed(failure)
  }

  /// After one scan that began at 100 s.
  private static func scanned(
    taking seconds: Double = 0.001, isOnce: Bool = false, _ entries: [StagingEntry] = []
  ) -> ScanSchedule {
    var schedule = ScanSchedule(settings(), isOnce: isOnce)
    schedule.begin()
    return schedule.ended(startedSeconds: 100, atSeconds: 100 + seconds, entries: entries)
  }

  @Test("The first scan is due at once, later ones after the poll interval")
  func poll() {
    #expect(ScanSchedule(Self.settings(), isOnce: false).isDue(atSeconds: 0) { nil })
    let schedule = Self.scanned()
    #expect(!schedule.isDue(atSeconds: 129.9) { nil })
    #expect(schedule.isDue(atSeconds: 130) { nil })
    #expect(schedule.secondsUntilDue(atSeconds: 110, changeSeconds: nil) == 20)
  }

  @Test(
    "After a notice, or when time alone changes something, it is due earlier", arguments: [0, 1])
  func early(_ way: Int) {
    var schedule = Self.scanned()
    if way == 0 { schedule.noteChange() }
    let change = way == 0 ? nil : 100.1
    #expect(!schedule.isDue(atSeconds: 100.19) { change })
    #expect(schedule.isDue(atSeconds: 100.21) { change })
    #expect(abs(schedule.secondsUntilDue(atSeconds: 100, changeSeconds: change) - 0.2) < 1e-9)
  }

  @Test("Scans take a twentieth of the time at most, and never less often than the poll interval")
  func gap() {
    for (took, gap) in [(0.5, 10.0), (5, 30)] {
      var schedule = Self.scanned(taking: took)
      schedule.noteChange()
      #expect(!schedule.isDue(atSeconds: 100 + gap - 0.1) { nil }, "\(took)")
      #expect(schedule.isDue(atSeconds: 100 + gap) { nil }, "\(took)")
    }
  }

  @Test("A change that is noticed during a scan asks for another one")
  func duringScan() {
    var schedule = ScanSchedule(Self.settings(), isOnce: false)
    schedule.begin()
    schedule.noteChange()
    let after = schedule.ended(startedSeconds: 100, atSeconds: 100.001, entries: [StagingEntry]())
    #expect(after.isDue(atSeconds: 101) { nil })
  }

  @Test(
    "Time alone ends the rest of an upload, the time in which it may stand still, the patience for files and the pause before a retry"
  )
  func changes() {
    let cases: [(StagingEntry, Double?)] = [
      (Self.entry(.moving, since: 10), 70),
      (Self.entry(.moving, since: 10, isTransferring: true), 3610),
      (Self.entry(.incomplete(missing: ["x"]), since: 10), 610),
      (Self.entry(Self.retry(at: 42)), 42),
      (Self.entry(Self.retry(at: nil)), nil),
      (Self.entry(.queued), nil),
    ]
    let schedule = ScanSchedule(Self.settings(), isOnce: false)
    for (entry, seconds) in cases {
      #expect(schedule.changeSeconds(of: [entry]) == seconds, "\(entry.phase)")
    }
    #expect(schedule.changeSeconds(of: cases.map(\.0)) == 42)
  }

  @Test("With --once what moves at the first scan is waited for, what comes later is not")
  func once() {
    #expect(Self.scanned(isOnce: true, [Self.entry(.queued)]).isFrozen)
    #expect(!Self.scanned([Self.entry(.queued)]).isFrozen)
    let first = Self.scanned(isOnce: true, [Self.entry(.moving, since: 100)])
    #expect(!first.isFrozen)
    #expect(first.changeSeconds(of: [StagingEntry]()) == 160)
    let later = [Self.entry(.moving, since: 130)]
    #expect(first.ended(startedSeconds: 161, atSeconds: 161, entries: later).isFrozen)
    // One that goes on moving is waited for one settling time more.
    let same = [Self.entry(.moving, since: 100)]
    #expect(!first.ended(startedSeconds: 161, atSeconds: 161, entries: same).isFrozen)
    let last = first.ended(startedSeconds: 220, atSeconds: 220, entries: same)
    #expect(last.isFrozen)
    #expect(!last.isDue(atSeconds: 1000) { 0 })
  }
}
