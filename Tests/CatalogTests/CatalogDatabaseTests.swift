import Captures
import Foundation
import GRDB
import Night
import Pipeline
import Runner
import Storage
import SystemPackage
import TestSupport
import Testing

@testable import Catalog

@Suite("The database beside the results")
struct CatalogDatabaseTests {
  private let folder: TemporaryFolder
  private var root: FilePath { folder.path }
  private var file: FilePath { root.appending(Catalog.fileName) }

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
    $0.device.name = "Lab’s iPad"
    $0.scene.label = "Küche \"12\"; DROP TABLE captures"
    $0.recordedAt = "2026-11-20T00:00:00Z"
    $0.frames = 12
    $0.streams = [.init(name: "color", file: "a.h264", encoding: "h264-annexb", frames: 12)]
    $0.failures = [.init(stage: "depth", message: "cut", time: "t", cause: .input)]
    $0.triage = Sample.triage(isQuarantined: true)
  }

  private static var run: RunEntry {
    var run = Sample.run(
      2,
      Sample.attempt("full", .failed) {
        $0.path = "/in/full"
        $0.cause = .input
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

  private func changes(_ entries: [CaptureEntry]) -> Catalog.Changes {
    Catalog.Changes(
      entries: entries.map { Catalog.Remembered(entry: $0, stamp: "s") }, gone: [],
      runs: [Catalog.RememberedRun(entry: Self.run, stamp: RunStamp(text: "r"))], standings: [])
  }

  @Test("Captures and runs come back as they were put")
  func roundTrip() throws {
    #expect(try EntryBytes.entry(EntryBytes.bytes(Self.full)) == Self.full)
    #expect(try EntryBytes.run(EntryBytes.bytes(Self.run)) == Self.run)
    #expect(Self.run.attempts.first?.cluster != nil)
    let bytes = try EntryBytes.bytes(Self.full)
    for count in stride(from: 0, to: bytes.count, by: 7) {
      #expect(throws: (any Error).self) { try EntryBytes.entry(Array(bytes[..<count])) }
    }
  }

  @Test("Rows are inserted, replaced and removed, and tables hold what people ask for")
  func rows() throws {
    Catalog.update(root, signature: "p", changes([Self.full, Sample.entry()]))
    let catalog = try #require(Catalog(readingFrom: root, signature: "p"))
    #expect(catalog.rows()["full"]?.entry == Self.full)
    #expect(catalog.rows()["scan"]?.entry == Sample.entry())
    #expect(catalog.runs()[Self.run.id]?.entry == Self.run)
    #expect(Catalog(readingFrom: root, signature: "another program") == nil)
    var less = changes([Sample.entry { $0.scene.label = "attic" }])
    less.gone = ["full"]
    Catalog.update(root, signature: "p", less)
    let again = try #require(Catalog(readingFrom: root, signature: "p"))
    #expect(again.rows().keys.sorted() == ["scan"])
    #expect(again.ids(matching: "ATTIC") == ["scan"])
    #expect(again.ids(matching: "küche") == [])
    let database = try DatabaseQueue(path: file.string)
    try database.read { database in
      for (table, count) in [
        ("captures", 1), ("stages", 3), ("timings", 1), ("warnings", 0), ("attempts", 2),
        ("runs", 1),
        ("streams", 0), ("search", 1),
      ] {
        let found = try Int.fetchOne(database, sql: "SELECT count(*) FROM \(table)")
        #expect(found == count, "\(table)")
      }
    }
  }

  @Test(
    "Search in the catalog finds what the filter finds",
    arguments: [
      "küche", "KÜCHE", "12", "\"12\"", "ipad", "s iP", "full", "sca", "a", "%", "_", "drop table",
      "x OR y", "*", "’", "",
    ])
  func search(text: String) throws {
    let entries = [
      Self.full, Sample.entry(), Sample.entry("100%_a") { $0.scene.description = "x OR y*" },
    ]
    Catalog.update(root, signature: "p", changes(entries))
    let catalog = try #require(Catalog(readingFrom: root, signature: "p"))
    var filter = StatusFilter()
    filter.search = text
    let view = OutputSnapshot(
      root: root, entries: entries, locked: [], runs: [], record: nil, isWatcherAlive: false, now: 0
    )
    #expect(catalog.ids(matching: text) == Set(view.rows(filter).map(\.id)))
  }

  /// What may stand in its place.
  enum Place: String, CaseIterable {
    case nothing, empty, random, cutShort, laterVersion, otherTables, folder, link
  }

  @Test(
    "Whatever stands in its place, it is made anew or left alone, and never an error",
    arguments: Place.allCases)
  func places(place: Place) throws {
    switch place {
    case .nothing: break
    case .empty: try OutputFile.write([], to: file)
    case .random:
      var generator = SeededGenerator(seed: 3)
      try OutputFile.write(
        (0..<50_000).map { _ in UInt8.random(in: 0...255, using: &generator) }, to: file)
    case .cutShort:
      Catalog.update(root, signature: "p", changes([Self.full]))
      let bytes = try Array(Data(contentsOf: URL(filePath: file.string)))
      try FileSystem.remove(file)
      try OutputFile.write(Array(bytes[..<(bytes.count / 2 + 100)]), to: file)
    case .laterVersion:
      try DatabaseQueue(path: file.string).write { database in
        try database.execute(sql: "CREATE TABLE captures (x); PRAGMA user_version = 99")
      }
    case .otherTables:
      try DatabaseQueue(path: file.string).write { database in
        try database.execute(
          sql: "CREATE TABLE meta (x); PRAGMA user_version = \(CatalogSchema.version)")
      }
    case .folder: try FileSystem.makeFolder(file)
    case .link:
      try OutputFile.write([1, 2, 3], to: root.appending("elsewhere"))
      try FileManager.default.createSymbolicLink(
        atPath: file.string, withDestinationPath: root.appending("elsewhere").string)
    }
    // Read, whatever comes of it.
    _ = Catalog(readingFrom: root, signature: "p")?.rows()
    Catalog.update(root, signature: "p", changes([Self.full]))
    let catalog = Catalog(readingFrom: root, signature: "p")
    switch place {
    case .folder, .link:
      #expect(catalog == nil)
      #expect(throws: FileError.self) {
        try Catalog.rebuild(root, signature: "p", changes([Self.full]))
      }
    case .cutShort:
      // Pages that are gone show when they are read; making it anew helps.
      #expect(try Catalog.rebuild(root, signature: "p", changes([Self.full])).captures == 1)
      #expect(Catalog(readingFrom: root, signature: "p")?.rows()["full"]?.entry == Self.full)
    default: #expect(catalog?.rows()["full"]?.entry == Self.full)
    }
    if place == .link {
      #expect(
        try Data(contentsOf: URL(filePath: root.appending("elsewhere").string)) == Data([1, 2, 3]))
    }
  }

  @Test("Several at the same time do no harm")
  func together() async throws {
    let root = root
    let all = changes((0..<20).map { Sample.entry("c\($0)") })
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<8 {
        group.addTask {
          Catalog.update(root, signature: "p", all)
          _ = Catalog(readingFrom: root, signature: "p")?.rows()
        }
      }
    }
    #expect(Catalog(readingFrom: root, signature: "p")?.rows().count == 20)
  }
}
