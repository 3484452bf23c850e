@testable import Captures
@testable import Core
import SystemPackage
import TestSupport
import Testing

@testable import Engine

@Suite("Why a capture needs a person")
struct NeedReasonTests {
  private static let short = Shortfall(
    stream: "imu", held: 97, declared: 100, message: "97 of 100 records")

  @Test(
    "A shortfall and missing files stay in every state but while something arrives",
    arguments: CaptureState.ofCaptures)
  func states(_ state: CaptureState) {
    func codes(mark: CaptureMark? = nil, _ missing: [String], _ short: [Shortfall])
      -> [NeedReason.Code]
    {
      NeedReason.all(state, missing: missing, shortfalls: short, mark: mark).map(\.code)
    }
    let own: [NeedReason.Code] =
      switch state {
      case .failed: [.failed]
      case .quarantined: [.quarantined]
      case .stalledUpload: [.stalledUpload]
      case .incomplete: [.incomplete]
      default: []
      }
    #expect(codes([], []) == own)
    if state == .arriving {
      #expect(codes([".imu"], [Self.short]).isEmpty)
      return
    }
    #expect(codes([], [Self.short]) == own + [.shortfall])
    #expect(codes([".imu"], []) == (state == .incomplete ? own : own + [.missingFiles]))
    // Whatever a person decided: nobody is needed as long as it counts.
    for kind in MarkRecord.Kind.allCases {
      let record = MarkRecord(
        kind, note: nil, until: "2100-01-01T00:00:00Z", by: "anna", at: "2026-11-23T20:00:00Z",
        id: "a", folder: nil, stem: nil)
      let mark = CaptureMark(record, nowNanoseconds: 0)
      #expect(codes(mark: mark, [".imu"], [Self.short]).isEmpty, "\(kind)")
      #expect(!codes(mark: CaptureMark(record, nowNanoseconds: .max), [], [Self.short]).isEmpty)
    }
  }

  @Test("A reason says how much of which stream is lost, and what helps")
  func words() throws {
    let reason = try #require(NeedReason.all(.done, shortfalls: [Self.short]).first)
    #expect(reason.text == "imu: 97 of 100 records" && reason.stream == "imu")
    #expect(reason.remedy?.hasPrefix("Copy the capture from the device again") == true)
    let missing = try #require(NeedReason.all(.done, missing: [".imu"]).first)
    #expect(missing.file == ".imu" && missing.remedy?.contains("the .imu file") == true)
    let failure = Failure(stage: "depth", message: "a.depth: cut", cause: .input)
    let failed = try #require(NeedReason.all(.failed, failure: failure).first)
    #expect(failed.text == "a.depth: cut" && failed.file == "a.depth")
  }

  struct Noted: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var state: UploadManifest.FileState = .verified
    var bytes = 2
    var hasOtherTime = false
    var sha256: String? = Digest(of: "xy").hex
    var isKnown = true
    var isAltered: Bool
  }

  @Test(
    "A file is not as on the device where its size, its content or the server says so; times alone do not",
    arguments: [
      Noted(testDescription: "as compared", isAltered: false),
      Noted(testDescription: "another size", bytes: 3, isAltered: true),
      Noted(testDescription: "restored with other times", hasOtherTime: true, isAltered: false),
      Noted(
        testDescription: "other content, other times", hasOtherTime: true,
        sha256: Digest(of: "ab").hex, isAltered: true),
      Noted(
        testDescription: "other content, the same times", sha256: Digest(of: "ab").hex,
        isAltered: true),
      Noted(
        testDescription: "not read yet", hasOtherTime: true, isKnown: false, isAltered: false),
      Noted(
        testDescription: "no digest is noted", hasOtherTime: true, sha256: nil, isAltered: true),
      Noted(testDescription: "never compared", state: .unverified, bytes: 3, isAltered: false),
      Noted(testDescription: "received damaged", state: .mismatch, isAltered: true),
      Noted(
        testDescription: "received damaged, replaced by hand", state: .mismatch, bytes: 3,
        isAltered: false),
    ])
  func altered(noted: Noted) throws {
    let folder = try TemporaryFolder()
    let file = folder.path.appending("a")
    try OutputFile.write(Array("xy".utf8), to: file)
    let modified = try #require(FileStamp(of: file)).modifiedNanoseconds
    let time = UTCText.exact(nanoseconds: modified + (noted.hasOtherTime ? 1_000 : 0))
    let digest = noted.sha256.map { #", "sha256": "\#($0)""# } ?? ""
    let notes = #"""
      {"schema": 1, "files": [{"name": "a", "bytes": \#(noted.bytes), "modified": "\#(time)",
       "state": "\#(noted.state.rawValue)"\#(digest)}, {"name": "gone", "state": "verified"}]}
      """#
    try OutputFile.write(Array(notes.utf8), to: folder.path.appending(UploadManifest.fileName))
    let found = UploadRecord.altered(in: folder.path) { path, _ in
      path == file.text && noted.isKnown ? Digest(of: "xy") : nil
    }
    #expect(found == (noted.isAltered ? ["a"] : []))
    let reasons = NeedReason.all(.done, altered: found)
    #expect(reasons.map(\.code) == (noted.isAltered ? [.alteredFiles] : []))
  }

  @Test(
    "A run tells the state that it left a capture in",
    arguments: [(.made, "done"), (.blocked, "failed"), (.skipped, "queued")]
      as [(RunOutcome, String)])
  func state(outcome: RunOutcome, state: String) throws {
    let report = CaptureReport(id: "a", path: "/in/a", family: nil, outcome: outcome)
    let text = String(decoding: try JSONText.canonical(report), as: UTF8.self)
    #expect(text.contains(#""state":"\#(state)""#))
  }

  @Test("Every capture counts in one part of the whole, whatever its state, need and mark")
  func sums() {
    var totals = NightTotals()
    for state in CaptureState.ofCaptures {
      for needs in [false, true] {
        for outcome in [nil, RunOutcome.interrupted, .skipped, .made] {
          totals.add(state, needsPerson: needs, mark: nil, outcome: outcome)
        }
      }
    }
    #expect(totals.captures == CaptureState.ofCaptures.count * 8)
    #expect(totals.parts.reduce(0) { $0 + $1.count } == totals.captures)
    #expect(totals.states.values.reduce(0, +) == totals.captures)
    #expect(totals.needsPerson == totals.captures / 2 && totals.ready == 4)
  }

  @Test(
    "A run ends with 1 for what failed or was blocked, and where nothing that was named is possible",
    arguments: [
      ([.made, .upToDate, .skipped, .interrupted], 0), ([.made, .failed], 1), ([.blocked], 1),
      ([.notPossible], 1), ([.notPossible, .notPossible], 1), ([.notPossible, .made], 0),
      ([.notPossible, .upToDate], 0), ([], 0),
    ] as [([RunOutcome], Int)])
  func exits(outcomes: [RunOutcome], code: Int) {
    var report = RunReport(run: "r")
    report.captures = outcomes.map {
      CaptureReport(id: "a", path: "/in/a", family: nil, outcome: $0)
    }
    // That a capture needs a person changes no code by itself.
    for index in report.captures.indices { report.captures[index].missing = [".imu"] }
    #expect(ExitStatus.of(report, []) == code)
  }

  @Test(
    "A capture is not possible exactly where nothing that was named can be made of it",
    arguments: [
      (["tum"], [.made, .notPossible], RunOutcome.notPossible),
      (["tum"], [.upToDate, .notPossible], .notPossible), ([], [.made, .notPossible], .made),
      (["color", "tum"], [.upToDate, .notPossible], .upToDate),
      (["tum"], [.failed, .notPossible], .failed),
    ] as [([String], [RunOutcome], RunOutcome)])
  func notPossible(named: [String], stages: [RunOutcome], outcome: RunOutcome) {
    var report = CaptureReport(id: "a", path: "/in/a", family: nil, outcome: .made)
    report.stages = zip(["color", "tum"], stages).map {
      StageReport(stage: $0, uses: $0, outcome: $1)
    }
    report.conclude(isStrict: false, named: named)
    #expect(report.outcome == outcome)
  }
}
