@testable import Captures
import Foundation
@testable import Engine
@testable import Core
import SystemPackage
import TestSupport
import Testing

@Suite("The report of a night")
struct ReportAssemblyTests {
  private static func view(
    _ entries: [CaptureRow], runs: [RunEntry], waiting: [WatchRecord.Waiting] = [],
    now: String = "2026-11-20T07:00:00Z"
  ) -> OutputSnapshot {
    var record: WatchRecord?
    if !waiting.isEmpty {
      record = WatchRecord(staging: "/", started: "", lastLook: now, waiting: waiting)
    }
    return OutputSnapshot(
      root: "/nowhere/out", entries: entries, locked: [], runs: runs, record: record,
      isWatcherAlive: true, now: UTCText.nanoseconds(now) ?? 0)
  }

  private static func report(
    _ view: OutputSnapshot, since: String = "2026-11-19T12:00:00Z"
  ) throws -> NightReport {
    try NightReportBuilder(view, .since(UTCText.nanoseconds(since) ?? 0)).report(
      program: ProgramIdentity(version: "1", commit: nil, libraries: [:]), host: "h")
  }

  @Test("Those that need a person come first, and all states but unrecognized add up")
  func order() throws {
    let entries = [
      Sample.entry("a-done"), Sample.entry("b-warned") { $0.warnings = [Sample.warning] },
      Sample.entry("c-failed", stages: [.failed]),
      Sample.entry("d-quarantined", stages: [.failed]) {
        $0.triage = Sample.triage(isQuarantined: true)
      },
      Sample.entry("e-untouched"), Sample.entry("f-interrupted", stages: [.missing]),
      Sample.entry("g-skipped", stages: [.missing]),
    ]
    let run = Sample.run(
      2, Sample.attempt("a-done", .made), Sample.attempt("b-warned", .made),
      Sample.attempt("c-failed", .failed), Sample.attempt("f-interrupted", .interrupted),
      Sample.attempt("g-skipped", .skipped), Sample.attempt("h-nowhere", .failed))
    let waiting = [
      Sample.waiting(.incomplete, id: "i-lacks"), Sample.waiting(.arriving, id: "j-arrives"),
      Sample.waiting(.queued, id: "k-waits"),
    ]
    let report = try Self.report(Self.view(entries, runs: [run], waiting: waiting))
    #expect(
      report.captures.map(\.id) == [
        "c-failed", "h-nowhere", "d-quarantined", "i-lacks", "b-warned", "k-waits", "j-arrives",
        "a-done", "f-interrupted", "g-skipped",
      ]
        || report.captures.map(\.id).prefix(5) == [
          "c-failed", "h-nowhere", "d-quarantined", "i-lacks", "b-warned",
        ])
    #expect(!report.captures.contains { $0.id == "e-untouched" })
    let totals = report.totals
    #expect(totals.captures == report.captures.count && totals.captures == 10)
    let parts = [
      totals.ready, totals.needsPerson, totals.arriving, totals.queued, totals.running,
      totals.marked,
    ]
    #expect(parts.reduce(0, +) == totals.captures)
    #expect(totals.states.values.reduce(0, +) == totals.captures)
    #expect(totals.needsPerson == report.captures.count(where: \.needsPerson))
    #expect(totals[.failed] == 2 && totals[.quarantined] == 1 && totals[.incomplete] == 1)
    for capture in report.captures {
      #expect(capture.failures.isEmpty == ![.failed, .quarantined].contains(capture.state))
      #expect(capture.reasons.allSatisfy { $0.remedy?.isEmpty == false })
      #expect(capture.needsPerson || ![.failed, .quarantined, .incomplete].contains(capture.state))
    }
  }

  @Test("What a run tried again and could not make is told, though an earlier result is up to date")
  func failedAgain() throws {
    let failure = Failure(stage: "color", message: "the program ended", cause: .program)
    let attempt = Sample.attempt("a", .failed) { $0.failures = [failure] }
    let report = try Self.report(
      Self.view([Sample.entry("a")], runs: [Sample.run(2, attempt)]))
    let capture = try #require(report.captures.first)
    #expect(capture.state == .done && capture.outcome == .failed && !capture.needsPerson)
    #expect(capture.failures.map(\.stage) == ["color"])
    #expect(capture.failures.map(\.message) == ["the program ended"])
  }

  @Test("JSON on all cores has the bytes of one, and every key of the contract")
  func json() throws {
    let entries = (0..<300).map { Sample.entry("c\($0)") }
    var run = Sample.run(2)
    run.attempts = entries.map { Sample.attempt($0.id, .made) }
    let report = try Self.report(Self.view(entries, runs: [run]))
    #expect(report.captures.count == 300)
    #expect(try report.json() == JSONText.pretty(report))
    let object =
      try JSONSerialization.jsonObject(with: Data(report.json())) as? [String: Any] ?? [:]
    for key in [
      "schema", "runs", "from", "to", "totals", "captures", "program", "host", "pipeline",
      "unrecognized", "free",
    ] {
      #expect(object[key] != nil, "\(key)")
    }
    let first = (object["captures"] as? [[String: Any]])?.first ?? [:]
    for key in [
      "id", "family", "state", "needsPerson", "reasons", "outcome", "warningCount", "warnings",
      "failures", "seconds", "frames", "missing",
      "page", "path", "scene", "device", "attempts", "gone", "retryAt",
    ] {
      #expect(first[key] != nil, "\(key)")
    }
    var empty = report
    empty.captures = []
    #expect(try empty.json() == JSONText.pretty(empty))
  }

  @Test("Of a run that began earlier only what ended since; runs by the beginning of their id")
  func selection() throws {
    let early = Sample.attempt("early", .made) { $0.finished = "2026-11-20T02:05:00.000Z" }
    let late = Sample.attempt("late", .made) { $0.finished = "2026-11-20T02:25:00.000Z" }
    let view = Self.view(
      ["early", "late", "before"].map { Sample.entry($0) },
      runs: [Sample.run(1, Sample.attempt("before", .made)), Sample.run(2, early, late)])
    let report = try Self.report(view, since: "2026-11-20T02:10:00Z")
    #expect(report.captures.map(\.id) == ["late"] && report.runs.count == 1)
    let one = try NightReportBuilder(view, .run("20261120T01")).report(
      program: report.program, host: "")
    #expect(one.captures.map(\.id) == ["before"])
    #expect(throws: RunSelection.Problem.noSuchRun("x")) { try NightReportBuilder(view, .run("x")) }
    #expect(throws: RunSelection.Problem.self) { try NightReportBuilder(view, .run("2026")) }
  }

  @Test("Frames of a capture count once, however many runs worked on them")
  func frames() throws {
    let runs = (1...3).map { hour in
      Sample.run(hour, Sample.attempt("scan", .made) { $0.frames = hour == 2 ? 12 : 5 })
    }
    let report = try Self.report(Self.view([Sample.entry()], runs: runs))
    #expect(report.totals.frames == 12)
  }

  @Test("Bytes are those that lie there and were made since, also by a run that was killed")
  func bytes() throws {
    var run = Sample.run(1, Sample.attempt("scan", nil))
    run.finished = nil
    let view = Self.view([Sample.entry(), Sample.entry("before")], runs: [run])
    #expect(try Self.report(view).totals.bytes == 100)
    #expect(try Self.report(view, since: "2026-11-20T01:00:01Z").totals.bytes == 0)
  }

  @Test("Nights end at noon, and only those before this one count")
  func nights() throws {
    let noon = NightClock.lastNoon(before: UTCText.nanoseconds("2026-11-20T15:00:00Z") ?? 0)
    #expect(NightClock.lastNoon(before: noon) == noon)
    #expect(NightClock.lastNoon(before: noon - 1) < noon)
    #expect(NightClock.night(of: noon) != NightClock.night(of: noon - 1))
    var old = Sample.run(
      2, Sample.attempt("a", .failed), Sample.attempt("a", .made), Sample.attempt("b", .failed))
    old.started = "2026-11-10T02:00:00.000Z"
    old.finished = "2026-11-10T03:30:00.000Z"
    let report = try Self.report(
      Self.view([], runs: [old, Sample.run(2, Sample.attempt("c", .made))]))
    #expect(report.nights.count == 1 && report.nights.first?.captures == 2)
    #expect(report.nights.first?.failed == 1 && report.nights.first?.hours == 1.5)
  }

  @Test(
    "Times are read exactly, and nothing else is a time",
    arguments: [
      ("1970-01-01T00:00:01.500Z", 1_500_000_000),
      ("2026-11-20T22:00:00Z", 1_795_212_000_000_000_000),
      ("", nil), ("2026-11-20", nil), ("2026-1a-20T22:00:00Z", nil),
    ] as [(String, Int64?)])
  func times(text: String, expected: Int64?) {
    #expect(UTCText.nanoseconds(text) == expected)
    if let expected, expected % 1_000_000_000 == 0 {
      #expect(UTCText.text(nanoseconds: expected) == text)
    }
  }
}

@Suite("Journals of runs, read again")
struct RunFileReadingTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func journal(_ id: String) -> FilePath {
    folder.path.appending("runs").appending(id)
  }

  @Test("A run that was killed is told by its events, up to a cut line")
  func killed() throws {
    let id = "20261120T020000-1-00000000-000001"
    try FileSystem.makeFolder(journal(id))
    var lines = ""
    func add(
      _ kind: RunEvent.Kind, _ second: Int, _ capture: String?,
      _ change: (inout RunEvent) -> Void = { _ in }
    ) throws {
      var event = RunEvent(kind: kind, time: "2026-11-20T02:00:0\(second).000Z", capture: capture)
      change(&event)
      lines += String(decoding: try JSONText.canonical(event), as: UTF8.self) + "\n"
    }
    try add(.runStarted, 0, nil)
    try add(.captureStarted, 1, "a") { $0.message = "/in/a" }
    try add(.finished, 2, "a") {
      $0.stage = "color"
      $0.outcome = .failed
      $0.message = "no"
      $0.cause = .program
    }
    try add(.captureFinished, 3, "a") {
      $0.message = "failed"
      $0.cause = .program
    }
    try add(.captureStarted, 4, "b")
    lines += #"{"schema":1,"kind":"capture-fini"#
    try OutputFile.write(Array(lines.utf8), to: journal(id).appending("events.jsonl"))
    let run = try #require(RunEntry(id, in: folder.path))
    #expect(run.finished == nil && run.started == "2026-11-20T02:00:00Z")
    #expect(run.attempts.map(\.capture) == ["a", "b"])
    #expect(run.attempts[0].outcome == .failed && run.attempts[0].why.cause == .program)
    #expect(run.attempts[0].failures.first?.stage == "color" && run.attempts[0].path == "/in/a")
    #expect(run.attempts[1].outcome == nil && run.end == "2026-11-20T02:00:04.000Z")
    #expect(try RunEntry.ids(in: folder.path) == [id])
    try FileSystem.makeFolder(journal("empty"))
    #expect(RunEntry("empty", in: folder.path) == nil)
  }

  @Test("Damaged journals are left out")
  func damaged() throws {
    for (id, text) in [("1", "{"), ("2", ""), ("3", "[]")] {
      try FileSystem.makeFolder(journal(id))
      try OutputFile.write(Array(text.utf8), to: journal(id).appending("run.json"))
      #expect(RunEntry(id, in: folder.path)?.attempts.isEmpty != false)
    }
  }
}

@Suite("Custody of captures, and what is different from the night before")
struct CustodyTests {
  private static func report(
    _ entries: [CaptureRow], runs: [RunEntry] = [], now: String = "2026-11-20T07:00:00Z"
  ) throws -> NightReport {
    let view = OutputSnapshot(
      root: "/nowhere/out", entries: entries, locked: [], runs: runs, record: nil,
      isWatcherAlive: false, now: UTCText.nanoseconds(now) ?? 0)
    return try NightReportBuilder(view, .since(UTCText.nanoseconds("2026-11-19T12:00:00Z") ?? 0))
      .report(program: ProgramIdentity(version: "1", commit: nil, libraries: [:]), host: "h")
  }

  struct Case: Sendable, CustomTestStringConvertible {
    var name: String
    var state = StageState.done
    var received: CaptureRow.Received? = .init(files: 5, bytes: 100)
    var missing: [String] = []
    var warnings: [CaptureWarning] = []
    var shortfalls: [Shortfall] = []
    var isGone = false
    var lacks: [String]
    var verifiedBy: Custody.Proof?
    var testDescription: String { name }
  }

  private static let proof = UploadCounts(files: 5, verified: 5, unchanged: 5, isComplete: true)

  static let cases = [
    Case(name: "whole and done, and nobody compared contents", lacks: [Custody.notCompared]),
    Case(
      name: "a manifest of which every digest was compared",
      received: .init(
        files: 5, bytes: 100, manifest: proof), lacks: [], verifiedBy: .manifest),
    Case(
      name: "the same, with damage that the decoder has patched up",
      received: .init(files: 5, bytes: 100, manifest: proof),
      warnings: [CaptureWarning(.corruptRecord, "color", count: 1, "1 damaged")],
      lacks: ["warnings ask for another copy: corrupt-record"], verifiedBy: .manifest),
    Case(
      name: "the same, with what ordinary recordings show, and a warning that stays",
      received: .init(files: 5, bytes: 100, manifest: proof),
      warnings: [
        CaptureWarning(.frameGap, "color", count: 1, severity: .note, "1 gap"),
        CaptureWarning(.missingKey, "metadata", count: 1, severity: .note, "1 key"),
        CaptureWarning(.poseJump, "poses", count: 1, "1 jump"),
      ], lacks: [], verifiedBy: .manifest),
    Case(
      name: "the same, and a stream that has lost too much",
      received: .init(files: 5, bytes: 100, manifest: proof),
      shortfalls: [Shortfall(stream: "imu", held: 30, declared: 31, message: "30 of 31")],
      lacks: ["imu: 3 % lost"], verifiedBy: .manifest),
    Case(
      name: "a file that has changed since it was compared",
      received: .init(
        files: 5, bytes: 100,
        manifest: .init(files: 5, verified: 5, unchanged: 4, isComplete: true)),
      lacks: ["1 of 5 files have changed since"]),
    Case(
      name: "a file that came in another way",
      received: .init(files: 6, bytes: 100, manifest: proof),
      lacks: ["1 of 6 files did not come through the upload server"]),
    Case(
      name: "a manifest with two files that nobody compared",
      received: .init(
        files: 5, bytes: 100, manifest: .init(files: 5, verified: 3, unchanged: 3, isComplete: true)
      ),
      lacks: ["2 of 5 files not verified by the upload server"]),
    Case(
      name: "an upload that is not over",
      received: .init(
        files: 5, bytes: 100,
        manifest: .init(files: 5, verified: 5, unchanged: 5, isComplete: false)),
      lacks: ["the upload server has not got everything"]),
    Case(
      name: "its files have left the server since", isGone: true,
      lacks: ["its files are no longer in the place"]),
    Case(name: "a failed stage", state: .failed, lacks: ["failed"]),
    Case(
      name: "processed although the video is missing", missing: [".h264"], lacks: ["no video"]),
    Case(
      name: "nothing is recorded of what came", received: nil,
      lacks: ["which files were received is not recorded"]),
  ]

  @Test(
    "The last upload of a device is when its files were written, not when they were first processed",
    arguments: [
      ("2026-11-19T23:00:00.500Z", "2026-11-19T23:00:00.500Z"),
      // Files that were restored after the run.
      ("2026-11-21T00:00:00.000Z", "2026-11-20T02:00:00.000Z"),
    ])
  func lastUpload(written: String, told: String) throws {
    let entry = Sample.entry("a") {
      $0.deviceInfo.name = "ipad"
      $0.received = CaptureRow.Received(
        files: 1, bytes: 1, arrivedNanoseconds: UTCText.nanoseconds(written))
    }
    let report = try Self.report([entry], runs: [Sample.run(2, Sample.attempt("a", .made))])
    #expect(report.devices.map(\.lastUpload) == [told])
  }

  @Test("Safe to delete on the device, or exactly why not", arguments: cases)
  func custody(_ example: Case) throws {
    let entry = Sample.entry("a", stages: [example.state]) {
      $0.family = "scannet"
      $0.deviceInfo.name = "ipad"
      $0.received = example.received
      $0.missing = example.missing
      $0.warnings += example.warnings
      $0.shortfalls = example.shortfalls
      $0.gone = example.isGone
    }
    let run = Sample.run(2, Sample.attempt("a", example.state == .done ? .made : .failed))
    let report = try Self.report([entry], runs: [run])
    let custody = try #require(report.captures.first?.custody)
    #expect(custody.isSafe == example.lacks.isEmpty, "\(custody)")
    for (lack, expected) in zip(custody.lacks, example.lacks) {
      #expect(lack.hasPrefix(expected), "\(custody)")
    }
    #expect(custody.lacks.count == example.lacks.count, "\(custody)")
    #expect(custody.verifiedBy == example.verifiedBy)
    #expect(custody.words.contains("safe to delete") == custody.isSafe)
    let device = try #require(report.devices.first)
    #expect(device.safe == (custody.isSafe ? 1 : 0) && device.isSafe == custody.isSafe)
    #expect(device.receivedFiles == (example.received?.files ?? 0))
    #expect(
      device.expectedFiles
        == (example.received?.manifest?.files ?? example.received?.files ?? 0)
        + example.missing.count)
  }
}
