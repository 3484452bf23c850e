@testable import Captures
import Foundation
@testable import Engine
@testable import Core
import SystemPackage
import TestSupport
import Testing

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
      stamp: RunStamp(text: "r"), bytes: try run.cacheBytes()[...])
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
