import Foundation
import SystemPackage
import TestSupport
import Testing

@testable import Captures
@testable import Core
@testable import Engine

@Suite("What is remembered of an output")
struct CatalogTests {
  private let folder: TemporaryFolder
  private var root: FilePath { folder.path }
  private var file: FilePath { root.appending(OutputNames.notes).appending(OutputNames.catalog) }

  init() throws { folder = try TemporaryFolder() }

  private static let full = Sample.entry(
    "full", stages: [.done, .stale, .failed, .blocked, .missing]
  ) {
    $0.stages[1].reason = .parameters
    $0.stages[1].details = "range: none -> 1m"
    $0.warnings = [Sample.warning]
    $0.missing = [".imu"]
    $0.notes = ["a note"]
    $0.settings = ["imu.window=20ms"]
    $0.deviceInfo.name = "Lab’s iPad"
    $0.sceneInfo.label = "Küche \"12\"; DROP TABLE captures"
    $0.recordedAt = "2026-11-20T00:00:00Z"
    $0.frames = 12
    $0.stages[2].isInner = true
    $0.failures = [Failure(stage: "depth", message: "cut", cause: .input, time: "t")]
    $0.quality = CaptureQuality(
      verdict: .usable, reasons: ["dark"], judged: ["clipped": .init(value: 0.25, level: .usable)])
    $0.triage = Sample.triage(isQuarantined: true)
    $0.received = CaptureRow.Received(
      files: 5, bytes: 1 << 33, arrivedNanoseconds: 17,
      manifest: UploadCounts(files: 6, verified: 4, unchanged: 3, isComplete: false, twinOf: "scan")
    )
  }

  private static var run: RunEntry {
    var run = Sample.run(
      2,
      Sample.attempt("full", .failed) {
        $0.path = "/in/full"
        $0.why.cause = .input
        $0.failures = [.init(stage: nil, message: "no", cause: nil)]
        $0.warnings = [Sample.warning]
        $0.started = "2026-11-20T02:00:00.000Z"
        $0.stageSeconds = 2
        var report = CaptureReport(id: "full", path: "/in/full", family: nil, outcome: .failed)
        report.job = "12_3"
        report.asked = AskedFor(cores: 2, memoryBytes: 1 << 31, timeSeconds: 600)
        $0.cluster = ClusterTrace(report)
      }, Sample.attempt("other", nil))
    run.program = ProgramIdentity(version: "1", commit: nil, libraries: ["a": "b"])
    run.unrecognized = [.init(path: "/in/x", holds: ["y"])]
    return run
  }

  private static var proof: UntouchedProof {
    let stamps = PathStamps(paths: Array("\0\0scan\0".utf8)[...], digest: Digest(of: "p"))
    return UntouchedProof(
      records: stamps, document: stamps, outputs: stamps, isMarked: true)
  }

  private static func catalog(_ entries: [CaptureRow]) throws -> Catalog {
    var catalog = Catalog()
    for entry in entries {
      catalog.captures[entry.id] = Catalog.Row(
        stamps: EntryStamps(
          records: Digest(of: "r"), outputs: Digest(of: "o"), content: Digest(of: "c"),
          places: Digest(of: "places"), proof: proof),
        outputs: 1, bytes: try entry.cacheBytes())
    }
    catalog.runs[run.id] = Catalog.RunRow(
      stamp: "r", bytes: try run.cacheBytes()[...])
    return catalog
  }

  private static func view(_ entries: [CaptureRow], _ root: FilePath) -> OutputSnapshot {
    OutputSnapshot(
      root: root, entries: entries, locked: [], runs: [run], record: nil, isWatcherAlive: false,
      now: 0)
  }

  @Test("Captures and runs come back as they were put")
  func roundTrip() throws {
    #expect(try CaptureRow(cacheBytes: Self.full.cacheBytes()[...]) == Self.full)
    #expect(try RunEntry(cacheBytes: Self.run.cacheBytes()[...]) == Self.run)
    #expect(Self.run.attempts.first?.cluster != nil)
    let bytes = try Self.full.cacheBytes()
    for count in stride(from: 0, to: bytes.count, by: 7) {
      #expect(throws: (any Error).self) { try CaptureRow(cacheBytes: bytes[..<count]) }
    }
  }

  @Test("A catalog comes back as it was written, for the program that wrote it")
  func written() throws {
    try Self.catalog([Self.full, Sample.entry()]).write(to: root, signature: "p")
    let catalog = try #require(Catalog(of: root, for: "p"))
    #expect(catalog.captures["full"]?.entry == Self.full)
    let head = try #require(catalog.captures["full"]?.head)
    #expect(head.id == Self.full.id && head.family == Self.full.family)
    #expect(head.matchNames == Self.full.matchNames && head.searchText == Self.full.searchText)
    #expect(catalog.captures["scan"]?.entry == Sample.entry())
    #expect(catalog.captures["scan"]?.stamps?.content == Digest(of: "c"))
    #expect(catalog.captures["scan"]?.stamps?.proof == Self.proof)
    #expect(catalog.runs[Self.run.id]?.entry == Self.run)
    #expect(catalog.captures["scan"]?.stamps?.places == Digest(of: "places"))
    #expect(catalog.runs[Self.run.id]?.entry == Self.run)
  }

  @Test("Of what another program wrote only the stamps are of use")
  func ofAnother() throws {
    try Self.catalog([Self.full]).write(to: root, signature: "p")
    let catalog = try #require(Catalog(of: root, for: "another program"))
    let row = try #require(catalog.captures["full"])
    #expect(row.entry == nil)
    #expect(row.outputs == 1)
    #expect(row.stamps?.proof == Self.proof)
    #expect(catalog.runs.isEmpty)
  }

  @Test("No part of a catalog is believed when a byte of it is another or lacks")
  func damage() throws {
    let bytes = try Self.catalog([Self.full]).bytes(signature: "p")
    #expect(throws: Never.self) { try Catalog(bytes, for: "p") }
    for index in stride(from: 0, to: bytes.count, by: 11) {
      var other = bytes
      other[index] ^= 1
      #expect(throws: (any Error).self) { try Catalog(other, for: "p") }
      #expect(throws: (any Error).self) { try Catalog(Array(bytes[..<index]), for: "p") }
    }
  }

  /// What may stand in the place of the catalog.
  enum Place: String, CaseIterable {
    case nothing, empty, random, folder, link, linkedNotes, readOnly
  }

  @Test(
    "Whatever stands in its place, it is made anew or left alone, and never an error",
    arguments: Place.allCases)
  func places(place: Place) throws {
    let elsewhere = root.appending("elsewhere")
    try FileSystem.makeFolder(elsewhere)
    try OutputFile.write([1, 2, 3], to: elsewhere.appending(OutputNames.catalog))
    let notes = root.appending(OutputNames.notes)
    if place != .nothing && place != .linkedNotes && place != .readOnly {
      try FileSystem.makeFolder(notes)
    }
    switch place {
    case .nothing: break
    case .empty: try OutputFile.write([], to: file)
    case .random:
      var generator = SeededGenerator(seed: 3)
      try OutputFile.write(
        (0..<50_000).map { _ in UInt8.random(in: 0...255, using: &generator) }, to: file)
    case .folder: try FileSystem.makeFolder(file)
    case .link:
      try file.link(to: elsewhere.appending(OutputNames.catalog).string)
    case .linkedNotes:
      try notes.link(to: elsewhere.string)
    case .readOnly:
      try FileManager.default.setAttributes(
        [.posixPermissions: 0o555], ofItemAtPath: root.string)
    }
    defer {
      try? FileManager.default.setAttributes(
        [.posixPermissions: 0o755], ofItemAtPath: root.string)
    }
    #expect(Catalog(of: root, for: "p") == nil)
    try Self.catalog([Self.full]).write(to: root, signature: "p")
    let catalog = Catalog(of: root, for: "p")
    switch place {
    case .nothing, .empty, .random: #expect(catalog?.captures["full"]?.entry == Self.full)
    case .folder, .link, .linkedNotes, .readOnly: #expect(catalog == nil)
    }
    if place == .readOnly { #expect(!FileSystem.exists(notes)) }
    #expect(
      try elsewhere.appending(OutputNames.catalog).data()
        == Data([1, 2, 3]))
  }

  @Test("Several at the same time do no harm")
  func together() async throws {
    let root = root
    let all = try Self.catalog((0..<20).map { Sample.entry("c\($0)") })
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<8 {
        group.addTask {
          all.write(to: root, signature: "p")
          _ = Catalog(of: root, for: "p")
        }
      }
    }
    #expect(Catalog(of: root, for: "p")?.captures.count == 20)
  }

  // MARK: Tables
}

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
        totals.add(state, needsPerson: needs, mark: nil)
      }
    }
    #expect(totals.captures == CaptureState.ofCaptures.count * 2)
    #expect(totals.parts.reduce(0) { $0 + $1.count } == totals.captures)
    #expect(totals.states.values.reduce(0, +) == totals.captures)
    #expect(totals.needsPerson == totals.captures / 2 && totals.ready == 1)
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

/// Made-up captures and runs.
enum Sample {
  static func entry(
    _ id: String = "scan", stages: [StageState] = [.done, .done, .notApplicable],
    _ change: (inout CaptureRow) -> Void = { _ in }
  ) -> CaptureRow {
    let names = ["color", "depth", "geo", "imu", "tables"]
    var entry = CaptureRow(
      id: id, name: id, family: "scannet", path: "/in/\(id)", folder: "/in/\(id)", stem: id,
      page: "\(id)/report.html", pipeline: "default.yaml",
      stages: zip(names, stages).map { StageStatus(stage: $0, uses: "toy-\($0)", state: $1) },
      timings: [
        CaptureRow.Timing(
          stage: "color", seconds: 2, cpuSeconds: 3, frames: 12, bytes: 100, outputs: 12,
          finished: "2026-11-20T01:00:00.000Z")
      ])
    change(&entry)
    return entry
  }

  static func attempt(
    _ capture: String = "scan", _ outcome: RunOutcome?,
    _ change: (inout RunEntry.Attempt) -> Void = { _ in }
  ) -> RunEntry.Attempt {
    var attempt = RunEntry.Attempt(capture: capture)
    attempt.outcome = outcome
    change(&attempt)
    return attempt
  }

  /// A run that started at an hour of 20 November.
  static func run(_ hour: Int, _ attempts: RunEntry.Attempt...) -> RunEntry {
    let time = hour < 10 ? "0\(hour)" : "\(hour)"
    var run = RunEntry(
      id: "20261120T\(time)0000-1-00000000-00000\(hour % 10)",
      started: "2026-11-20T\(time):00:00.000Z")
    run.finished = "2026-11-20T\(time):30:00.000Z"
    run.pipeline = "default"
    run.attempts = attempts
    return run
  }

  static func triage(isQuarantined: Bool = false) -> Failure {
    var failure = Failure(
      stage: "depth", message: "it crashed", cause: .program, attempts: 2,
      time: "2026-11-20T02:00:00.000Z", retryAt: "2026-11-20T03:00:00.000Z", run: "r")
    (failure.key, failure.isQuarantined) = ("k", isQuarantined)
    return failure
  }

  static func waiting(_ state: CaptureState, id: String = "scan", path: String? = nil)
    -> WatchRecord.Waiting
  {
    WatchRecord.Waiting(
      id: id, family: "scannet", path: path ?? "/in/\(id)", state: state,
      since: "2026-11-20T05:00:00.000Z", missing: state == .incomplete ? [".imu"] : [])
  }

  static func watcher(isAlive: Bool = true, at lastLook: String = "2026-11-20T06:00:00.000Z")
    -> NightReport.Watch
  {
    NightReport.Watch(alive: isAlive, staging: nil, lastLook: lastLook)
  }

  static let warning = CaptureWarning(.frameGap, "color", count: 3, "3 gaps")
}
