@testable import Captures
@testable import Engine
@testable import Core
import SystemPackage
import TestSupport
import Testing

@Suite("What a run leaves for the next one")
struct CaptureCacheTests {
  /// For this clock all files have been still for a while.
  static let later = RunClock(
    wallText: RunClock.system.wallText, monotonicSeconds: RunClock.system.monotonicSeconds,
    fileNanoseconds: { FileStamp.nowNanoseconds() + 10_000_000_000 })

  /// A workshop after a run.
  static func workshop() throws -> Workshop {
    let workshop = try Workshop()
    #expect(workshop.run(clock: later).exit == 0)
    _ = workshop.probe().takeOpened()
    return workshop
  }

  static func target(_ workshop: Workshop) throws -> CaptureTarget {
    let batch = workshop.batch(Selection(), { _ in }, clock: later)
    return try #require(batch.targets(workshop.findings(nil)).first)
  }

  static let registry = CaptureRegistry([ToyReader.self])

  @Test("An unchanged capture is planned without being opened")
  func unopened() throws {
    let workshop = try Self.workshop()
    #expect(workshop.plan().isEmpty)
    #expect(workshop.probe().takeOpened() == 0)
    #expect(workshop.plan(.forced("color")).contains("color run forced"))
    #expect(workshop.probe().takeOpened() == 0)
  }

  @Test("A capture whose files had only just changed is opened")
  func fresh() throws {
    let workshop = try Workshop()
    #expect(workshop.run().exit == 0)
    _ = workshop.probe().takeOpened()
    #expect(workshop.plan().isEmpty)
    #expect(workshop.probe().takeOpened() == 1)
  }

  static let changes: [(String, @Sendable (Workshop) throws -> Void)] = [
    ("a changed file", { try $0.write("blue", to: "color.bin") }),
    ("an added file", { try $0.write("x", to: "notes.txt") }),
    ("a file added in a new folder", { try $0.write("x", to: "more/notes.txt") }),
    ("a removed file", { try $0.remove("depth.bin") }),
    (
      "a file written again",
      { try Text.overwrite("red", at: $0.capture("scan").appending("color.bin")) }
    ),
  ]

  @Test("Whatever changes in its folder, the capture is opened again", arguments: 0..<changes.count)
  func changed(_ index: Int) throws {
    let workshop = try Self.workshop()
    try Self.changes[index].1(workshop)
    _ = workshop.plan()
    #expect(workshop.probe().takeOpened() == 1, "\(Self.changes[index].0)")
    let target = try Self.target(workshop)
    #expect(
      KnownCapture.ifCurrent(target.recognition, target.layout, registry: Self.registry) == nil)
  }

  @Test("A damaged or cut index is none: the plan stays the same")
  func damagedIndex() throws {
    let workshop = try Self.workshop()
    let index = workshop.layout().index
    let whole = try #require(
      HeldFolder(workshop.layout().notes)?.stampedContents(of: "index")?.bytes)
    for length in stride(from: 0, to: whole.count, by: 37) {
      try OutputFile.write(Array(whole[..<length]), to: index)
      #expect(workshop.plan().isEmpty)
    }
    for place in stride(from: 0, to: whole.count, by: 101) {
      var bytes = whole
      bytes[place] ^= 0x41
      try OutputFile.write(bytes, to: index)
      #expect(workshop.plan().isEmpty)
    }
    try FileSystem.remove(index)
    #expect(workshop.plan().isEmpty)
    // `memo.json` alone still saves the opening.
    #expect(workshop.probe().takeOpened() == 0)
    for text in ["", "{", "{\"schema\":2}"] {
      try Text.write(text, to: workshop.layout().captureCache)
      #expect(workshop.plan().isEmpty)
      #expect(workshop.probe().takeOpened() == 1)
    }
  }

  @Test("A record that somebody changed is not taken from the index")
  func changedRecord() throws {
    let workshop = try Self.workshop()
    let file = workshop.layout().record("color")
    let text = try #require(Text.read(file))
    try Text.write(text.replacing("\"suffix\" : \"\"", with: "\"suffix\" : \"x\""), to: file)
    #expect(workshop.plan().contains("color run parameters"))
    try Text.write(
      text.replacing(
        try #require(workshop.record("color")).fingerprint.hex, with: Digest(of: "x").hex), to: file
    )
    #expect(workshop.plan().contains("color run outputs-altered"))
    // Pictures whose record is gone are made again; with a file that is not ours they are in the way.
    try FileSystem.remove(file)
    #expect(workshop.plan() == ["color run outputs-altered", "tables run input-rebuilt"])
    try Text.write("mine", to: workshop.layout().artifact("color").appending("mine"))
    #expect(workshop.plan().contains("color blocked"))
  }

  @Test("An index says of every record what its file says")
  func sameRecords() throws {
    let workshop = try Self.workshop()
    let layout = workshop.layout()
    let notes = try #require(HeldFolder(layout.notes))
    let cacheStamp = try #require(notes.stamp(of: "memo.json"))
    let index = try #require(
      RecordIndex(in: notes, cacheStamp: cacheStamp, pool: ParameterPool()))
    #expect(Set(index.records.keys) == ["color", "frames", "depth", "aligned", "tables"])
    for (stage, entry) in index.records {
      #expect(entry.record == ArtifactStore(layout).record(stage))
      #expect(entry.isSound)
    }
    let written = try #require(CaptureCache(of: layout))
    #expect(index.core.summary == written.summary && index.core.inputs == written.inputs)
    #expect(index.core.warnings == written.warnings)
    #expect(CaptureCache(index.core, requests: written.requests) == written)
    #expect(index.core.requests == written.requests.digest)
  }

  @Test("A settled capture is reported without being opened")
  func upToDate() throws {
    let workshop = try Self.workshop()
    let batch = workshop.batch(Selection(), { _ in }, clock: Self.later)
    let target = try Self.target(workshop)
    let report = try #require(batch.upToDate(target))
    let run = workshop.run(clock: Self.later)["scan"]
    #expect(report.outcome == .upToDate && report.outcome == run.outcome)
    #expect(report.stages.map(\.stage) == run.stages.map(\.stage))
    #expect(report.stages.map(\.outcome) == run.stages.map(\.outcome))
    #expect(workshop.batch(.forced("color"), { _ in }, clock: Self.later).upToDate(target) == nil)
    let source = PipelineSource(name: "toy.yaml", text: Workshop.usual)
    #expect(
      workshop.batch(Selection(), { $0.pipelineSource = source }, clock: Self.later)
        .upToDate(target) == nil)
    let document = try #require(Text.read(workshop.layout().captureDocument))
    try Text.write(document + " ", to: workshop.layout().captureDocument)
    #expect(batch.upToDate(target) == nil)
    #expect(workshop.run(clock: Self.later).exit == 0)
    #expect(batch.upToDate(target) != nil)
    try FileSystem.remove(workshop.layout().artifact("tables").appending("out.txt"))
    #expect(batch.upToDate(target) == nil)
  }

  @Test("The finder does not recognize what a run knows, and does so again after a change")
  func finder() throws {
    let workshop = try Self.workshop()
    let batch = workshop.batch(Selection(), { _ in }, clock: Self.later)
    let place = workshop.folder.path.appending("in")
    let known = try #require(batch.finder().find(place).captures.first)
    #expect(known.reason == "known from an earlier run")
    let plain = try #require(CaptureFinder(Self.registry).find(place).captures.first)
    #expect(known.id == plain.id && known.family == plain.family && known.folder == plain.folder)
    try workshop.write("scan-two", to: "toy.txt")
    #expect(batch.finder().find(place).captures.first?.id == "scan-two")
  }
}
