@testable import Captures
import Foundation
@testable import Engine
@testable import Core
import SystemPackage
import TestSupport
import Testing

@Suite("Status and explanations")
struct StatusTests {
  static func examiner(_ workshop: Workshop) -> OutputExaminer {
    OutputExaminer(
      captures: CaptureRegistry([ToyReader.self]), stages: .toys, chosen: nil,
      standard: workshop.pipeline)
  }

  static func status(_ workshop: Workshop) -> ExaminedCapture {
    examiner(workshop).examine(workshop.layout())
  }

  /// `STAGE STATE REASON`, what is done left out.
  static func states(_ workshop: Workshop) throws -> [String] {
    status(workshop).states.filter { $0.state != .done }.map {
      "\($0.stage) \($0.state.rawValue)" + ($0.reason.map { " \($0.rawValue)" } ?? "")
    }
  }

  @Test("Done, stale, missing and not applicable")
  func states() throws {
    let workshop = try Workshop()
    #expect(workshop.run().exit == 0)
    #expect(try Self.states(workshop).isEmpty)
    try workshop.write("blue", to: "color.bin")
    #expect(
      try Self.states(workshop) == ["color stale input-changed", "tables stale input-rebuilt"])
    try FileSystem.remove(workshop.layout().artifact("color"))
    #expect(
      try Self.states(workshop) == ["color missing never-built", "tables stale input-rebuilt"])
    try workshop.remove("color.bin")
    #expect(
      try Self.states(workshop) == ["color not-applicable", "tables stale input-rebuilt"])
  }

  @Test("A result of ours whose record is gone is made again, and that is told before")
  func lostRecord() throws {
    let workshop = try RerunTests.done()
    try FileSystem.remove(workshop.layout().record("color"))
    let told = try #require(Self.status(workshop).states.first { $0.stage == "color" })
    #expect(told.state == .stale && told.reason == .outputsAltered)
    #expect(told.details == "artifact.json is gone or cannot be read")
    #expect(workshop.plan().first == "color run outputs-altered")
    let result = workshop.run()
    #expect(result.exit == 0 && result.stages().first == "color made outputs-altered")
  }

  @Test(
    "A result without a record of it is told of before a run, which refuses it before it works",
    arguments: [nil, #"{"stage": "mine"}"#])
  func obstructed(record: String?) throws {
    let workshop = try RerunTests.done()
    try FileSystem.remove(workshop.layout().record("color"))
    if let record { try Text.write(record, to: workshop.layout().record("color")) }
    try Text.write("mine", to: workshop.layout().artifact("color").appending("mine"))
    let why = "has no artifact.json that scanmill wrote (move it away, or choose another --output)"
    let told = try #require(Self.status(workshop).states.first { $0.stage == "color" })
    #expect(told.state == .obstructed && told.details?.hasSuffix(why) == true, "\(told)")
    #expect(workshop.plan().first == "color blocked")
    let worked = workshop.folder.path.appending("worked")
    workshop.probe().after("color") { _ in try Text.write("yes", to: worked) }
    let result = workshop.run()
    #expect(result.exit == ExitStatus.cannotWrite && !FileSystem.exists(worked))
    let color = try #require(result["scan"].stages.first { $0.stage == "color" })
    #expect(color.outcome == .failed && color.why.cause == .program)
    #expect(color.why.detail?.code == .notOurs)
    #expect(color.why.detail?.file == workshop.layout().artifact("color").string)
    #expect(color.why.message?.hasSuffix(why) == true)
    try FileSystem.remove(workshop.layout().artifact("color"))
    #expect(workshop.run().exit == 0)
  }

  @Test(
    "A capture that was copied is done by its times and by its content; changes under the same times are found by content",
    arguments: [true, false])
  func copied(isSettled: Bool) throws {
    let workshop = try Workshop()
    func setTimes() {
      for name in ["toy.txt", "color.bin", "depth.bin"] {
        var times = [timespec(tv_sec: 1000, tv_nsec: 0), timespec(tv_sec: 1000, tv_nsec: 0)]
        let path = workshop.capture("scan").appending(name).string
        #expect(utimensat(AT_FDCWD, path, &times, 0) == 0)
      }
    }
    setTimes()
    #expect(workshop.run().exit == 0)
    let layout = workshop.layout()
    var cache = try #require(CaptureCache(of: layout))
    // Whether the files had been still for a while before the run or changed just before it.
    cache.inputs = InputListing(
      folder: cache.inputs.folder, stem: cache.inputs.stem, entries: cache.inputs.entries,
      isSettled: isSettled)
    try JSONEncoder().encode(cache).write(to: URL(filePath: layout.captureCache.string))

    func isDone(comparesTimesOnly: Bool) throws -> Bool {
      let examined = Self.examiner(workshop)
        .examine(layout, comparesTimesOnly: comparesTimesOnly)
      return examined.states.allSatisfy { $0.state == .done }
    }
    setTimes()
    #expect(try isDone(comparesTimesOnly: true) && isDone(comparesTimesOnly: false))
    try workshop.write("sea", to: "color.bin")
    setTimes()
    #expect(try !isDone(comparesTimesOnly: false))
    try workshop.write("ocean", to: "color.bin")
    setTimes()
    #expect(try !isDone(comparesTimesOnly: true))
  }

  @Test("A step inside of a stage counts as a part of it, and is told of only where it failed")
  func inner() throws {
    let workshop = try Workshop()
    let whole = workshop.run().report
    let told = whole.withoutInnerStages
    let (before, after) = (try #require(whole.captures.first), try #require(told.captures.first))
    #expect(before.stages.map(\.stage).filter { $0 != "frames" } == after.stages.map(\.stage))
    #expect(after.stagesDone == before.stagesDone - 1)
    func seconds(_ report: RunReport) -> Double {
      RunTotals(report.captures, unrecognized: 0, seconds: 0).cpuSeconds
    }
    #expect(abs(seconds(told) - seconds(whole)) < 1e-9)
    func wallSeconds(_ report: CaptureReport) -> Double {
      report.stages.compactMap { $0.seconds }.reduce(0, +)
    }
    #expect(abs(wallSeconds(before) - wallSeconds(after)) < 1e-9)
    var row = CaptureRow(id: "scan", stages: Self.status(workshop).states)
    #expect(row.stages.count == row.shownStages.count + 1)
    try workshop.write("!broken", to: "depth.bin")
    let failed = workshop.run().report.withoutInnerStages
    #expect(failed.captures.first?.stages.contains { $0.stage == "frames" } == true)
    row.stages = Self.status(workshop).states
    #expect(row.stages.count == row.shownStages.count)
  }

  @Test(
    "A result of an earlier pipeline is told of by a run that takes the stage for an inner step")
  func innerOfOne() throws {
    let workshop = try Workshop()
    func stages(_ text: String, _ name: String) throws -> [String] {
      let source = PipelineSource(name: name, text: text)
      workshop.pipeline = try source.definition(.toys)
      let report = workshop.run { $0.pipelineSource = source }.report.withoutInnerStages
      #expect(report.captures.first?.stages.allSatisfy { $0.partOf == nil } == true)
      return report.captures.first?.stages.map(\.stage) ?? []
    }
    let alone = "schema: 1\nstages:\n  frames: {uses: toy-frames}"
    func innerOfPlan(_ text: String, _ name: String) throws -> Set<String> {
      let source = PipelineSource(name: name, text: text)
      workshop.pipeline = try source.definition(.toys)
      let batch = workshop.batch(Selection(), { $0.pipelineSource = source }, clock: .system)
      return batch.plan(batch.targets(workshop.findings(nil))).first?.inner ?? []
    }
    #expect(try stages(Workshop.usual, "usual") == ["color", "depth", "aligned", "tables"])
    #expect(try innerOfPlan(Workshop.usual, "usual") == ["frames"])
    #expect(try stages(alone, "alone").contains("frames"))
    #expect(try stages(Workshop.usual, "usual").contains("frames"))
    #expect(try innerOfPlan(Workshop.usual, "usual").isEmpty)
    #expect(Self.status(workshop).states.contains { $0.stage == "frames" && $0.isShown })
  }

  @Test("A failed stage with its message, and what is blocked behind it")
  func failed() throws {
    let workshop = try Workshop()
    try workshop.write("!broken", to: "depth.bin")
    #expect(workshop.run().exit == 1)
    let status = Self.status(workshop)
    #expect(
      try Self.states(workshop) == [
        "frames failed never-built", "depth blocked", "aligned blocked",
      ])
    #expect(
      status.states.first { $0.stage == "frames" }?.details?.contains("begins with !") == true)
  }

  @Test("A stage that finds nothing to do without an input that fails is no lack beside it")
  func nothingBesideFailure() throws {
    let workshop = try Workshop()
    workshop.probe().before("color") { _ in throw StageFailure("no picture") }
    workshop.probe().before("tables") { context in
      if context.inputs["color"] == nil { throw StageDoesNotApply("no color") }
    }
    #expect(workshop.run().exit == 1)
    #expect(try Self.states(workshop) == ["color failed never-built", "tables not-applicable"])
    workshop.probe().before("color", nil)
    #expect(workshop.run().exit == 0)
    #expect(try Self.states(workshop).isEmpty)
  }

  @Test("Where the input is gone the artifacts speak, and it is said so")
  func gone() throws {
    let workshop = try Workshop()
    #expect(workshop.run().exit == 0)
    try FileSystem.remove(workshop.capture("scan"))
    let status = Self.status(workshop)
    #expect(status.isInputGone && status.states.allSatisfy { $0.state == .done })
    #expect(status.notes.contains { $0.contains("its input is gone") })
    try FileSystem.remove(workshop.layout().artifact("depth").appending("out.txt"))
    #expect(try Self.states(workshop).first == "depth stale outputs-missing")
  }

  @Test("A capture whose notes may not be read is listed by its results; a folder of others is not")
  func unreadableNotes() throws {
    let workshop = try Workshop()
    #expect(workshop.run().exit == 0)
    try Text.write("mine", to: workshop.output.appending("others/mine.txt"))
    StorageFaults.setLooks(below: workshop.output) { _, path in
      path.components.contains { $0.string == OutputNames.notes } ? .permissionDenied : nil
    }
    defer { StorageFaults.setLooks(below: workshop.output, nil) }
    #expect(OutputCatalog.isOutput(workshop.layout()))
    let reader = OutputReader(Self.examiner(workshop), signature: nil)
    #expect(try reader.view(of: workshop.output).rows.map(\.id) == ["scan"])
  }

  @Test("Who works on a capture is named, without waiting")
  func locked() throws {
    let workshop = try Workshop()
    #expect(workshop.run().exit == 0)
    #expect(Self.status(workshop).lockedBy == nil)
    let lock = try #require(
      try FileLock(at: workshop.layout().lock, holder: "scanmill run 7") { _ in false })
    #expect(Self.status(workshop).lockedBy == "scanmill run 7")
    withExtendedLifetime(lock) {}
  }

  @Test("An explanation names parameters, files and outputs, then and now")
  func explanation() throws {
    let workshop = try Workshop()
    #expect(workshop.run().exit == 0)
    let examined = Self.examiner(workshop).examine(workshop.layout())
    let known = try #require(StageExplanation(of: "color", in: examined))
    #expect(known.action == .upToDate && known.state == .done)
    #expect(!known.fingerprint.changed && known.parameters.allSatisfy { !$0.changed })
    #expect(known.inputs.map(\.name) == ["color"])
    #expect(known.inputs.first?.source.hasSuffix("color.bin") == true)
    #expect(known.inputs.first?.recorded == Digest(of: "red").hex)
    #expect(known.outputs?.count == 2)
    #expect(StageExplanation(of: "colour", in: examined) == nil)

    try workshop.write("blue", to: "color.bin")
    try workshop.set("color.suffix=!")
    let changed = try #require(
      StageExplanation(
        of: "color", in: Self.examiner(workshop).examine(workshop.layout())))
    #expect(changed.reason == .parameters)
    #expect(changed.parameters.filter(\.changed).map(\.name) == ["suffix"])
    #expect(changed.inputs.first?.planned == Digest(of: "blue").hex)
    #expect(changed.fingerprint.changed)
    let behind = try #require(
      StageExplanation(
        of: "tables", in: Self.examiner(workshop).examine(workshop.layout())))
    #expect(behind.inputs.first { $0.name == "color" }?.isRebuilt == true)
    #expect(behind.fingerprint.planned == nil)
  }

  @Test("A folder without our notes is no output; links are not followed")
  func catalog() throws {
    let workshop = try Workshop()
    #expect(workshop.run().exit == 0)
    try Text.write("mine", to: workshop.output.appending("holiday/picture.png"))
    #expect(TestLink.make(workshop.output.appending("linked"), to: workshop.layout().folder))
    #expect(try #require(try OutputCatalog(workshop.output)).layouts.map(\.name) == ["scan"])
    #expect(
      try #require(try OutputCatalog(workshop.layout().folder)).layouts.map(\.name) == ["scan"])
    #expect(try OutputCatalog(workshop.output.appending("nowhere")) == nil)
  }
}
