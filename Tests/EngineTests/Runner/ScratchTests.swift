@testable import Captures
@testable import Engine
@testable import Core
import Synchronization
import SystemPackage
import TestSupport
import Testing

@Suite("Intermediates in a scratch folder")
struct ScratchTests {
  private static func scratch(_ workshop: Workshop) -> FilePath {
    workshop.folder.path.appending("scratch")
  }

  private static func run(
    _ workshop: Workshop, _ selection: Selection = Selection()
  ) -> RunResult {
    workshop.run(selection) { $0.scratch = scratch(workshop) }
  }

  private static func isEmpty(_ workshop: Workshop) throws -> Bool {
    try FileSystem.names(in: scratch(workshop)).isEmpty
  }

  /// What is published and recorded of every stage, without times and places.
  private static func results(_ workshop: Workshop) -> [String] {
    let store = ArtifactStore(workshop.layout())
    return workshop.pipeline.stages.map { stage in
      guard let found = store.published(stage.name, verify: true) else {
        return "\(stage.name) none"
      }
      let record = found.record
      return "\(stage.name) \(found.state) \(record.fingerprint.hex) \(record.outputDigest.hex)"
    }
  }

  /// A workshop after a run without scratch folder.
  private static func plain(_ pipeline: String) throws -> [String] {
    let workshop = try Workshop(pipeline)
    #expect(workshop.run().exit == 0)
    return results(workshop)
  }

  @Test(
    "They lie there while they are read, nothing is left, and all results are those without",
    arguments: [Workshop.usual, IntermediateTests.chain])
  func same(pipeline: String) throws {
    let workshop = try Workshop(pipeline)
    let root = Self.scratch(workshop)
    let seen = Mutex<[String]>([])
    let output = workshop.layout().folder
    for stage in ["depth", "aligned"] {
      workshop.probe().before(stage) { context in
        for input in context.inputs.values {
          #expect(input.folder.starts(with: root))
          #expect(input.folder.removingLastComponent().lastComponent?.string == "scan")
          #expect(!FileSystem.exists(output.appending(input.stage)))
          seen.withLock { $0.append(input.stage) }
        }
        // What is kept is made where it goes to.
        #expect(context.staging.path.starts(with: output))
      }
    }
    let result = Self.run(workshop)
    #expect(result.exit == 0)
    #expect(seen.withLock { $0.count } == 2)
    #expect(try Self.isEmpty(workshop))
    #expect(Self.results(workshop) == (try Self.plain(pipeline)))
    // Neither with nor without is anything to be done.
    #expect(Self.run(workshop).busy() == [])
    #expect(workshop.run().busy() == [])
    #expect(workshop.plan() == [])
    _ = workshop.probe().takeRan()
    #expect(Self.run(workshop, .forced("aligned")).exit == 0)
    #expect(try Self.isEmpty(workshop))
    #expect(Self.results(workshop) == (try Self.plain(pipeline)))
  }

  @Test("Every capture has a folder of its own in it")
  func several() throws {
    let workshop = try Workshop()
    try workshop.add("a")
    #expect(Self.run(workshop).exit == 0)
    #expect(try Self.isEmpty(workshop))
    for name in ["a", "scan"] {
      #expect(
        workshop.folders(of: name) == ["aligned", "capture.json", "color", "depth", "tables"])
      #expect(FileSystem.exists(workshop.layout(name).removedRecord("frames")))
    }
  }

  @Test("Where a reader has failed it is gone too, and made again for that reader alone")
  func failedReader() throws {
    let workshop = try Workshop()
    workshop.probe().before("aligned") { _ in throw FailureTests.Broken() }
    #expect(Self.run(workshop).exit == ExitStatus.jobFailed)
    #expect(try Self.isEmpty(workshop))
    #expect(!workshop.folders().contains("frames"))
    workshop.probe().before("aligned", nil)
    _ = workshop.probe().takeRan()
    #expect(Self.run(workshop).exit == 0)
    #expect(workshop.probe().takeRan() == ["aligned", "frames", "tables"])
    #expect(Self.results(workshop) == (try Self.plain(Workshop.usual)))
  }

  @Test("One that failed itself leaves a note in the output and nothing in the scratch folder")
  func failed() throws {
    let workshop = try Workshop()
    workshop.probe().after("frames") { _ in throw FailureTests.Broken() }
    #expect(Self.run(workshop).exit == ExitStatus.jobFailed)
    #expect(try Self.isEmpty(workshop))
    #expect(FileSystem.exists(workshop.layout().failureNote("frames")))
    workshop.probe().after("frames", nil)
    #expect(Self.run(workshop).exit == 0)
    #expect(!FileSystem.exists(workshop.layout().failureNote("frames")))
  }

  @Test(
    "One that lies in the output is read there; when it is made anew that one goes",
    arguments: [false, true])
  func before(isChanged: Bool) throws {
    let workshop = try Workshop(Workshop.keepingFrames)
    workshop.probe().before("aligned") { _ in throw FailureTests.Broken() }
    _ = workshop.run()
    #expect(workshop.folders().contains("frames"))
    workshop.pipeline = try Workshop().pipeline
    workshop.probe().before("aligned", nil)
    if isChanged { try workshop.set("frames.suffix=new") }
    _ = workshop.probe().takeRan()
    #expect(Self.run(workshop).exit == 0)
    #expect(workshop.probe().takeRan().contains("frames") == isChanged)
    #expect(try Self.isEmpty(workshop))
    #expect(!workshop.folders().contains("frames"))
    #expect(workshop.run().busy() == [])
  }

  @Test("A folder of somebody else where its artifact would be is refused as without")
  func foreign() throws {
    let workshop = try Workshop()
    let mine = workshop.layout().artifact("frames").appending("mine.txt")
    #expect(workshop.run(.only("color")).exit == 0)
    try Text.write("mine", to: mine)
    #expect(Self.run(workshop)["scan"].outcome == .failed)
    #expect(Text.read(mine) == "mine")
  }

  @Test("What a worker leaves that ends at work is removed, and nothing beside it")
  func workerFailure() throws {
    let workshop = try RerunTests.done()
    let run = TestRun.id(7)
    let root = Self.scratch(workshop).appending("scanmill-\(run)")
    for name in ["scan", "other"] {
      try Text.write("half", to: root.appending(name).appending("frames/x"))
    }
    try Text.write("mine", to: Self.scratch(workshop).appending("mine.txt"))
    var options = RunOptions(output: workshop.output, cores: 1)
    options.scratch = Self.scratch(workshop)
    let batch = workshop.batch(Selection(), { _ in }, clock: .system)
    let failure = WorkerFailure(
      target: try #require(batch.targets(workshop.findings(nil)).first),
      partialReport: PartialReport(),
      run: run, options: options, clock: .system, log: "no.log", isInterrupted: true)
    _ = failure.outcome(
      .notStarted(FileError(kind: .other, path: "x", operation: "start", reason: "no")),
      kill: nil)
    #expect(try FileSystem.names(in: root) == ["other"])
    ScratchFolder.end(options, run: run)
    #expect(try FileSystem.names(in: Self.scratch(workshop)) == ["mine.txt"])
  }
}
