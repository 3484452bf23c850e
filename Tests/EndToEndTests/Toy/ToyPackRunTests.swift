import Foundation
import Logging
import SystemPackage
import TestSupport
import Testing
import ToyFamily

@testable import Captures
@testable import Core
@testable import Engine
@testable import Media
@testable import Pages
@testable import Watch

@Suite(
  "Captures that are one file each are run, moved, told and cleaned like folders", .runsPrograms)
struct ToyPackRunTests {
  private let scene: ToyPackScene

  init() throws { scene = try ToyPackScene() }

  private func row(_ id: String) throws -> CaptureRow {
    try #require(try snapshot().rows.first { $0.id == id })
  }

  private func snapshot() throws -> OutputSnapshot {
    let pipeline = try ToyStages.source.definition(ToyStages.registry)
    return try OutputReader(
      OutputExaminer(
        captures: ToyPackScene.registry, stages: ToyStages.registry, chosen: pipeline,
        standard: pipeline), signature: nil
    ).view(of: scene.output)
  }

  @Test("from the file to pictures; the path that is told is the file")
  func one() throws {
    let file = try scene.write(ToyPackScene.pack(1), "a.pack")
    let report = try scene.run([file])
    #expect(report.exit == 0 && report.captures.map(\.path) == [file.string])
    #expect(try scene.millimeters("a", frame: 2) == ToyPackScene.millimeters(1, 2))
    let document = try #require(
      RecordedDocument(of: OutputLayout(root: scene.output, name: "a")))
    #expect(document.path == file.string)
    let row = try row("a")
    #expect(row.path == file.string && !row.gone)
    // Nothing is done twice.
    let again = try scene.run([file])
    #expect(again.captures.flatMap(\.stages).allSatisfy { $0.outcome != .made })
  }

  @Test("several in a folder, beside a folder of the same id, which is the second of its name")
  func several() throws {
    try scene.write(ToyPackScene.pack(1), "a.pack")
    try scene.write(ToyPackScene.pack(2), "a/RAW/packs/all.pack")
    try scene.write(ToyPackScene.pack(3), "b.pack")
    try scene.write(Array("PK\u{3}\u{4}".utf8), "c.bin")
    #expect(try scene.run([scene.input]).exit == 0)
    #expect(scene.results == ["a", "a~2", "b"])
    let values = try ["a", "a~2", "b"].map { try scene.millimeters($0, frame: 0) }
    // Which of the two is the first is decided by the order of their paths.
    #expect(Set(values) == [1000, 2000, 3000] && values.last == 3000)
  }

  @Test("changed bytes make the stages stale that read them; a file beside it does not")
  func changed() throws {
    let file = try scene.write(ToyPackScene.pack(1), "a.pack")
    _ = try scene.run([file])
    try scene.write([1], "a.pack.notes")
    #expect(try scene.run([file]).captures.flatMap(\.stages).allSatisfy { $0.outcome != .made })
    try scene.write(ToyPackScene.pack(4), "a.pack")
    let report = try scene.run([file])
    let depth = report.captures.flatMap(\.stages).first { $0.stage == "depth-frames" }
    #expect(depth?.reason == .inputChanged, "\(String(describing: depth))")
    #expect(try scene.millimeters("a", frame: 1) == ToyPackScene.millimeters(4, 1))
  }

  @Test("a file that has moved keeps its results, another one with its id does not get them")
  func moved() throws {
    let file = try scene.write(ToyPackScene.pack(1), "a.pack")
    _ = try scene.run([file])
    let other = scene.input.appending("later/a.pack")
    try FileSystem.makeFolder(other.removingLastComponent())
    try file.move(to: other)
    #expect(try scene.run([other]).exit == 0 && scene.results == ["a"])
    let owner = try #require(RecordedLocation(of: OutputLayout(root: scene.output, name: "a")))
    #expect(owner.folder == other.string)
    let second = try scene.write(ToyPackScene.pack(2), "a.pack")
    #expect(try scene.run([second]).exit == 0 && scene.results == ["a", "a~2"])
    #expect(try scene.millimeters("a", frame: 0) == 1000)
  }

  @Test("when the file is gone its results stay, and that it is gone is told")
  func gone() throws {
    let file = try scene.write(ToyPackScene.pack(1), "a.pack")
    _ = try scene.run([file])
    #expect(try !row("a").gone)
    try FileSystem.remove(file)
    #expect(try row("a").gone)
    #expect(try scene.millimeters("a", frame: 0) == 1000)
  }

  @Test("damaged beyond recognition it is not gone")
  func damaged() throws {
    let file = try scene.write(ToyPackScene.pack(1), "a.pack")
    _ = try scene.run([file])
    try scene.write([0, 1, 2], "a.pack")
    #expect(try !row("a").gone)
  }

  @Test("its page names the file, and its marks are found by the file")
  func page() throws {
    let file = try scene.write(ToyPackScene.pack(1), "a.pack")
    _ = try scene.run([file])
    let layout = OutputLayout(root: scene.output, name: "a")
    var capture = CaptureRow(id: "a", family: "toypack", state: .done)
    capture.path = file.string
    let page = String(
      decoding: try CapturePage.document(
        capture, layout: layout, redaction: nil, families: ToyPackScene.registry), as: UTF8.self)
    #expect(page.contains("a.pack"))
    let record = MarkRecord(
      .ignore, note: nil, until: "", by: "", at: "", id: "a", folder: file.string, stem: nil)
    #expect(record.stamp != nil)
    try scene.write(ToyPackScene.pack(1, frames: 4), "a.pack")
    #expect(
      MarkRecord(
        .ignore, note: nil, until: "", by: "", at: "", id: "a", folder: file.string, stem: nil
      ).stamp != record.stamp)
  }

  @Test("the same file under two names, and named twice, is one capture")
  func twice() throws {
    let file = try scene.write(ToyPackScene.pack(1), "a.pack")
    try FileManager.default.linkItem(
      atPath: file.string, toPath: scene.input.appending("b.pack").string)
    let report = try scene.run([file, scene.input, file])
    #expect(report.captures.count == 1)
  }

  @Test("an output that the file is, or lies where results would go, is refused")
  func overlap() throws {
    let file = try scene.write(ToyPackScene.pack(1), "a.pack")
    let batch = try scene.batch()
    let targets = batch.targets([batch.finder().find(file)])
    #expect(
      OutputOverlap(of: scene.output, with: targets, registry: ToyPackScene.registry) == nil)
    // Beside the file results may lie.
    #expect(
      OutputOverlap(
        of: scene.input.appending("out"), with: targets, registry: ToyPackScene.registry) == nil)
    // Folders above stay open to links, among them those to a user's captures.
    try scene.folder.link("link", to: file.string)
    #expect(FileStamp(of: scene.folder.path.appending("link")) != nil)
  }
}

/// Captures that are one file each, and an output, in a folder of their own.
struct ToyPackScene {
  static let registry = CaptureRegistry([ToyPackReader.self])
  static let width = 8
  static let height = 6

  let folder: TemporaryFolder
  let input: FilePath
  let output: FilePath

  init() throws {
    folder = try TemporaryFolder()
    try FileSystem.makeFolder(folder.path.appending("in"))
    input = try PathSafety.resolve(folder.path.appending("in"))
    output = folder.path.appending("out")
  }

  /// The bytes of a pack; every pixel says which frame of which capture it is.
  static func pack(_ number: Int, frames: Int = 3) -> [UInt8] {
    Array("TOYPACK\n\(width) \(height) \(frames)\n".utf8)
      + (0..<frames).flatMap { frame in
        [UInt16](repeating: millimeters(number, frame), count: width * height)
      }.littleEndianBytes + Array("END\n".utf8)
  }

  static func millimeters(_ number: Int, _ frame: Int) -> UInt16 {
    UInt16(1000 * number + frame)
  }

  @discardableResult
  func write(_ bytes: [UInt8], _ name: String) throws -> FilePath {
    let path = input.pushing(FilePath(name))
    try FileSystem.makeFolder(path.removingLastComponent())
    try path.write(bytes)
    return path
  }

  func batch() throws -> BatchRun {
    var options = RunOptions(output: output, cores: 2)
    options.pipelineSource = ToyStages.source
    return BatchRun(
      registry: Self.registry, pipeline: try ToyStages.source.definition(ToyStages.registry),
      options: options)
  }

  private struct Silence: EventSink {
    func send(_ event: RunEvent) {}
  }

  /// Runs what lies at the paths, in this process.
  func run(_ paths: [FilePath]) throws -> RunReport {
    let batch = try batch()
    let findings = paths.map { batch.finder().find($0) }
    return batch.run(
      batch.targets(findings), declined: findings.flatMap(\.failures), run: RunID.new().text,
      events: Silence(), cancellation: Cancellation())
  }

  /// `watch --once` on the input, with workers of the toy program.
  @discardableResult
  func watch(patienceSeconds: Double = 0) throws -> Int {
    let program = Program.path.removingLastComponent().appending("toymill")
    var setup = WatchSetup(staging: input, output: output, version: "1", program: program)
    setup.isOnce = true
    setup.settings.settleSeconds = 0.1
    setup.settings.pollSeconds = 0.1
    setup.settings.patienceSeconds = patienceSeconds
    let host = RunContext.Host(name: "here", os: "", cpu: "", cores: 2, memoryBytes: 1 << 30)
    let watcher = try Watcher(
      setup, clock: .system, log: Logger(label: "toy") { _ in SwiftLogNoOpLogHandler() },
      interruption: Interruption()
    ) {
      WatchWork(
        Supervisor(
          try batch(), source: ToyStages.source, program: program, arguments: ["worker"]),
        context: RunContext(
          program: ProgramIdentity(version: "1", commit: nil, libraries: [:]), host: host, user: "",
          commandLine: [], pipeline: "toy", path: nil, text: "toy"),
        pipelineText: ToyStages.source.text)
    }
    return watcher.watch()
  }

  /// What lies in the output folder of a capture, or `nil` where there is none.
  func millimeters(_ id: String, frame: Int) throws -> UInt16 {
    let path = OutputLayout(root: output, name: id).artifact("depth")
      .appending(FrameFileName.name(frame))
    return try PNGReader.depth(at: path).millimeters[0]
  }

  var results: [String] {
    ((try? FileSystem.names(in: output)) ?? []).filter { !$0.hasPrefix(".") && $0 != "runs" }
      .sorted()
  }

  /// What the watcher noted: states by id.
  var waiting: [String: String] {
    let waiting = WatchRecord(ofOutput: output)?.waiting ?? []
    return Dictionary(waiting.map { ($0.id, "\($0.state)") }) { first, _ in first }
  }
}

@Suite("What a run notes in the catalog for the first answer after it")
struct CatalogNoteTests {
  private static let signature = "this program"
  private let scene: ToyPackScene

  init() throws { scene = try ToyPackScene() }

  private func reader(_ signature: String? = signature) throws -> OutputReader {
    let pipeline = try ToyStages.source.definition(ToyStages.registry)
    return OutputReader(
      OutputExaminer(
        captures: ToyPackScene.registry, stages: ToyStages.registry, chosen: pipeline,
        standard: pipeline), signature: signature)
  }

  private func catalog() -> Catalog? { Catalog(of: scene.output, for: Self.signature) }

  @Test("The named captures as an answer reads them; rows of others stay, of gone ones go")
  func note() throws {
    for (number, name) in ["a", "b", "c"].enumerated() {
      try scene.write(ToyPackScene.pack(number + 1), "\(name).pack")
    }
    #expect(try scene.run([scene.input]).exit == 0)
    try reader().note(["a", "b"], run: "none", of: scene.output)
    #expect(catalog()?.captures.keys.sorted() == ["a", "b"])
    #expect(catalog()?.runs.isEmpty == true)
    let snapshot = try reader(nil).view(of: scene.output)
    for id in ["a", "b"] {
      let read = try #require(snapshot.rows.first { $0.id == id })
      #expect(catalog()?.captures[id]?.bytes == (try read.cacheBytes()[...]))
    }
    try FileSystem.remove(scene.output.appending("a"))
    try reader().note(["a", "c"], run: "none", of: scene.output)
    #expect(catalog()?.captures.keys.sorted() == ["b", "c"])
  }

  @Test("Nothing where the catalog is of no use to the answers that are asked for")
  func none() throws {
    try scene.write(ToyPackScene.pack(1), "a.pack")
    #expect(try scene.run([scene.input]).exit == 0)
    try reader(nil).note(["a"], run: "none", of: scene.output)
    #expect(!FileSystem.exists(scene.output.appending(".scanmill/catalog")))
  }

  @Test("Stamps that another program took stay where nothing was touched since, and nowhere else")
  func stampsOfAnother() async throws {
    let ids = ["a", "b", "c"]
    for (number, name) in ids.enumerated() {
      try scene.write(ToyPackScene.pack(number + 1), "\(name).pack")
    }
    #expect(try scene.run([scene.input]).exit == 0)
    // What changed within the last two seconds has no stamps.
    try await Task.sleep(for: .seconds(2.1))
    let entries = try reader().view(of: scene.output).rows
    var noted = try #require(catalog())
    // Stamps that this program would not take, to be told from those that it takes.
    let marker = Digest(of: "taken by another program")
    for id in ids {
      let row = try #require(noted.captures[id])
      var stamps = try #require(row.stamps)
      #expect(stamps.proof != nil)
      #expect(stamps.content != marker)
      stamps.content = marker
      if id == "c" { stamps.places = Digest(of: "other places") }
      noted.captures[id] = row.with(stamps)
    }
    noted.write(to: scene.output, signature: "another program")
    try OutputFile.write([1], to: scene.output.appending("b/notes.txt"))
    let again = try reader().view(of: scene.output).rows
    #expect(again == entries)
    let found = try #require(catalog())
    #expect(found.captures.keys.sorted() == ids)
    #expect(found.captures["a"]?.stamps?.content == marker)
    let first = try #require(entries.first { $0.id == "a" })
    #expect(found.captures["a"]?.bytes == (try first.cacheBytes()[...]))
    for id in ["b", "c"] { #expect(found.captures[id]?.stamps?.content != marker) }
  }

  @Test("What a filter turns down is not looked at, unless what it was turned down by is another")
  func turnedDown() async throws {
    for (number, name) in ["a", "b"].enumerated() {
      try scene.write(ToyPackScene.pack(number + 1), "\(name).pack")
    }
    #expect(try scene.run([scene.input]).exit == 0)
    // What changed within the last two seconds has no stamps.
    try await Task.sleep(for: .seconds(2.1))
    #expect(try reader().view(of: scene.output).rows.count == 2)
    func found(_ filter: StatusFilter) throws -> (ids: [String], leftOut: Int) {
      let view = try reader().view(of: scene.output, filter: filter)
      return (view.rows.filter(filter.holds).map(\.id), view.leftOut)
    }
    var byDevice = StatusFilter()
    byDevice.device = "PHONE X"
    #expect(try found(byDevice) == ([], 2))
    let document = scene.output.appending("a/capture.json")
    var capture = try document.json()
    capture["device"] = ["name": "Phone X of a lab"]
    try OutputFile.write(Array(JSONSerialization.data(withJSONObject: capture)), to: document)
    // That says nothing of a device.
    try OutputFile.write([1], to: scene.output.appending("b/notes.txt"))
    #expect(try found(byDevice) == (["a"], 1))
    var byName = byDevice
    byName.names = NameChoice(idPrefixes: ["b"], excluded: [])
    #expect(try found(byName) == ([], 1))
    var byState = StatusFilter()
    byState.states = [.failed]
    #expect(!byState.leavesOut)
  }

  @Test(
    "A run after another program was installed keeps the stamps of captures that it does not touch")
  func runOfAnother() throws {
    for name in ["a", "b"] { try scene.write(ToyPackScene.pack(1), "\(name).pack") }
    #expect(try scene.run([scene.input]).exit == 0)
    let stamps = EntryStamps(
      records: Digest(of: "r"), outputs: Digest(of: "o"), places: Digest(of: "p"))
    var noted = Catalog()
    for id in ["a", "b"] {
      noted.captures[id] = Catalog.Row(stamps: stamps, outputs: 1, bytes: [1, 2, 3])
    }
    noted.write(to: scene.output, signature: "another program")
    try reader().note(["a"], run: "none", of: scene.output)
    #expect(catalog()?.captures["a"]?.entry?.id == "a")
    #expect(catalog()?.captures["b"]?.entry == nil)
    #expect(catalog()?.captures["b"]?.stamps == stamps)
  }
}
