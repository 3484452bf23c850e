import Foundation
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import Captures
@testable import Core
@testable import Engine

@Suite("Publication, stopped between every two steps")
struct PublicationTests {
  /// What was there before the new artifact.
  enum Before: CaseIterable, Sendable {
    case nothing, artifact, removedIntermediate, halfRemovedIntermediate
  }

  struct Kill: Sendable, CustomTestStringConvertible {
    var before: Before
    var steps: Int
    var mayExchange: Bool

    var testDescription: String {
      "\(before), \(steps) steps done, \(mayExchange ? "exchange" : "move aside")"
    }

    static let all: [Kill] = Before.allCases.flatMap { before in
      (0...Publication.Step.allCases.count).flatMap { steps in
        [true, false].map { Kill(before: before, steps: steps, mayExchange: $0) }
      }
    }
  }

  static func record(_ text: String, version: Int = 1) throws -> ArtifactRecord {
    try ArtifactRecord(
      stage: "depth.v2",
      ingredients: FingerprintInputs(
        uses: "toy", version: version, parameters: [:],
        inputs: ArtifactRecord.Inputs(artifacts: [:], capture: nil, external: [:])),
      recorded: [:],
      outputs: [
        OutputEntry(path: "f", bytes: Int64(text.utf8.count), sha256: Digest(of: text))
      ], started: "", finished: "", seconds: 1, cpuSeconds: 1, peakMemoryBytes: 1, frames: 1,
      warnings: [])
  }

  /// A staging folder with one file and the steps to publish it.
  static func publication(
    _ text: String, _ layout: OutputLayout, run: String, mayExchange: Bool = true,
    version: Int = 1
  ) throws -> Publication {
    let output = try CaptureOutput(making: layout)
    let staging = try output.stagingFolder("depth.v2", attempt: run)
    try staging.write(Array(text.utf8), as: "f")
    return Publication(
      staging, try record(text, version: version), output: output, attempt: run,
      mayExchange: mayExchange)
  }

  /// The text of the artifact that counts, `removed`, or `none`.
  static func state(_ layout: OutputLayout) throws -> String {
    guard let published = ArtifactStore(layout).published("depth.v2", verify: true) else {
      return "none"
    }
    if published.state == .removed {
      #expect(ArtifactStore(layout).input("depth.v2") == nil)
      return "removed"
    }
    #expect(published.state == .intact)
    return Text.read(layout.artifact("depth.v2").appending("f")) ?? "?"
  }

  /// Whether a thread of this process lets time pass.
  private static func isPausing(thread: Int32) -> Bool {
    let text = try? String(contentsOfFile: "/proc/self/task/\(thread)/status", encoding: .utf8)
    return text?.contains("State:\tS") ?? false
  }

  static func sweep(_ layout: OutputLayout) throws {
    try StagingCleanup(output: CaptureOutput(making: layout), attempt: nil).perform()
  }

  static func prepare(_ before: Before, _ layout: OutputLayout) throws -> String {
    guard before != .nothing else { return "none" }
    var old = try publication("old", layout, run: TestRun.id(1))
    try old.perform()
    switch before {
    case .nothing, .artifact: return "old"
    case .removedIntermediate:
      try ArtifactStore(layout).removeIntermediate(
        "depth.v2", in: CaptureOutput(making: layout), attempt: TestRun.id(1))
    case .halfRemovedIntermediate:
      // As a kill right after the record was set apart leaves it.
      try FileSystem.makeFolder(layout.removedRecords)
      try FileSystem.rename(layout.record("depth.v2"), to: layout.removedRecord("depth.v2"))
    }
    return "removed"
  }

  @Test(
    "The old artifact, none, or the new one; sweeping heals, and the next one publishes",
    arguments: Kill.all)
  func killed(kill: Kill) throws {
    let folder = try TemporaryFolder()
    let layout = OutputLayout(root: folder.path, name: "scan")
    let old = try Self.prepare(kill.before, layout)
    var publication = try Self.publication(
      "new", layout, run: TestRun.id(2), mayExchange: kill.mayExchange)
    for step in Publication.Step.allCases.prefix(kill.steps) { try publication.perform(step) }

    // Killed here. A reader without lock sees the old one, none, or the new one.
    let now = try Self.state(layout)
    #expect([old, "none", "new"].contains(now))
    let isInPlace = kill.steps > Publication.Step.allCases.firstIndex(of: .putInPlace) ?? 0
    if isInPlace { #expect(now == "new") }

    try Self.sweep(layout)
    let healed = try Self.state(layout)
    #expect(healed == (now == "none" ? old : now))
    #expect(!FileSystem.exists(layout.stagingRoot))
    if healed == "removed" { #expect(!FileSystem.exists(layout.artifact("depth.v2"))) }
    if healed == "new" { #expect(!FileSystem.exists(layout.removedRecord("depth.v2"))) }
    try Self.sweep(layout)
    #expect(try Self.state(layout) == healed)

    var next = try Self.publication(
      "next", layout, run: TestRun.id(3), mayExchange: kill.mayExchange)
    try next.perform()
    #expect(try Self.state(layout) == "next")
    #expect(try FileSystem.names(in: layout.artifact("depth.v2")) == ["artifact.json", "f"])
    #expect(try FileSystem.names(in: layout.stagingRoot) == [])
    #expect(!FileSystem.exists(layout.removedRecord("depth.v2")))
  }

  @Test(
    "Where locks are not shared, another run that publishes the same at that moment is no failure",
    arguments: [true, false])
  func superseded(mayExchange: Bool) throws {
    let steps = Publication.Step.allCases
    func publish(_ other: String, uses: Int = 1, apart: Bool = false) throws -> String {
      let folder = try TemporaryFolder()
      let layout = OutputLayout(root: folder.path, name: "scan")
      var old = try Self.publication("old", layout, run: TestRun.id(1))
      try old.perform()
      var own = try Self.publication(
        "new", layout, run: TestRun.id(2), mayExchange: mayExchange)
      let confirm = try #require(steps.firstIndex(of: .confirm))
      for step in steps[..<confirm] { try own.perform(step) }
      var others = try Self.publication(
        other, layout, run: TestRun.id(3), mayExchange: mayExchange, version: uses)
      if apart {
        let put = try #require(steps.firstIndex(of: .putInPlace))
        for step in steps[..<put] { try others.perform(step) }
        let rest = others
        let confirming = Mutex<Int32?>(nil)
        let done = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
          var rest = rest
          // The other one waits between two looks.
          Waiting.until("a look in vain") {
            confirming.withLock { $0 }.map { Self.isPausing(thread: $0) } ?? false
          }
          for step in steps[put...] { #expect(throws: Never.self) { try rest.perform(step) } }
          done.signal()
        }
        let thread = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/thread-self")
        confirming.withLock { $0 = Int32(FilePath(thread).lastComponent?.string ?? "") }
        try own.perform(.confirm)
        done.wait()
      } else {
        try others.perform()
        try own.perform(.confirm)
      }
      for step in steps[(confirm + 1)...] { try own.perform(step) }
      #expect(own.isInPlace)
      #expect(try FileSystem.names(in: layout.stagingRoot) == [])
      return try Self.state(layout)
    }
    #expect(try publish("same") == "same")
    #expect(try publish("same", apart: true) == "same")
    // What was made in another way is not what this run promises.
    #expect(throws: FileError.self) { try publish("other", uses: 2) }
  }

  @Test(
    "What is not ours in the artifact's place is neither replaced nor followed",
    arguments: [true, false])
  func foreign(mayExchange: Bool) throws {
    for kind in ["link", "file", "folder", "record of another stage"] {
      let folder = try TemporaryFolder()
      let layout = OutputLayout(root: folder.path, name: "scan")
      let place = layout.artifact("depth.v2")
      let elsewhere = folder.path.appending("elsewhere")
      try Text.write("mine", to: elsewhere.appending("f"))
      try FileSystem.makeFolder(layout.folder)
      switch kind {
      case "link": #expect(TestLink.make(place, to: elsewhere))
      case "file": try Text.write("mine", to: place)
      case "folder": try Text.write("mine", to: place.appending("labels.txt"))
      default:
        try Text.write(
          #"{"stage": "other", "fingerprint": "x"}"#, to: place.appending("artifact.json"))
      }
      var publication = try Self.publication(
        "new", layout, run: TestRun.id(1), mayExchange: mayExchange)
      let error = #expect(throws: FileError.self) { try publication.perform() }
      #expect(error?.kind == .notOurs)
      #expect(error?.path == place)
      #expect(Text.read(elsewhere.appending("f")) == "mine")
      #expect(try FileSystem.names(in: elsewhere) == ["f"])
      switch kind {
      case "link": #expect(FileSystem.isLink(place))
      case "file": #expect(Text.read(place) == "mine")
      case "folder": #expect(Text.read(place.appending("labels.txt")) == "mine")
      default: #expect(try FileSystem.names(in: place) == ["artifact.json"])
      }
    }
  }

  @Test("Sweeping removes unfinished replacements and leaves everything else")
  func sweep() throws {
    let folder = try TemporaryFolder()
    let layout = OutputLayout(root: folder.path, name: "scan")
    let dead = "\(ProcessHome.current)-2000000000.new"
    for name in [
      ".capture.json.\(dead)", ".mine.\(dead)", ".mine.1.new", "mine.new", ".mine",
      "color/.x.1.new",
    ] {
      try Text.write("x", to: layout.folder.appending(name))
    }
    try Text.write("x", to: layout.notes.appending(".digests.json.\(dead)"))
    // The note of another machine, just written.
    try Text.write("x", to: layout.notes.appending(".memo.json.0123abcd-7.new"))
    try Text.write("x", to: layout.notes.appending("digests.json"))
    try Text.write(
      #"{"schema": 1, "message": "x", "time": "", "cause": "input"}"#,
      to: layout.failed("color").appending("failure.json"))
    try Self.sweep(layout)
    #expect(
      try FileSystem.names(in: layout.folder) == [
        ".failed", ".mine", ".mine.1.new", ".mine.\(dead)", ".scanmill", "color",
        "mine.new",
      ])
    #expect(
      try FileSystem.names(in: layout.notes) == [".memo.json.0123abcd-7.new", "digests.json"])
    #expect(try FileSystem.names(in: layout.artifact("color")) == [".x.1.new"])
  }

  @Test("A name in staging gives stage and run back; what is not ours gives nothing")
  func stagingNames() throws {
    let runs = [
      TestRun.id(3), RunID.new().text,
    ]
    for stage in ["color", "a.b", "a..b", "old.color", ".", "x."] {
      for run in runs {
        for (name, kind) in [
          (OutputLayout.asideName(stage, attempt: run), StagingName.Kind.aside),
          (OutputLayout.stagingName(stage, attempt: run), .attempt),
          (OutputLayout.trashName(stage, attempt: run), .trash),
        ] {
          let parts = try #require(StagingName(name))
          #expect(parts.kind == kind && parts.stage == stage && parts.run.text == run)
        }
      }
    }
    for name in [
      "", "~", "~.", "~x", ".", "notes.txt", "color.run-1", "color.20260101T000000",
      "color.20260101T00000x-1", "color.20260101T000000-1-2-3", ".20260101T000000-7",
      "color.20260101T000000-99999999999",
    ] {
      #expect(StagingName(name) == nil, "\(name)")
    }
  }
}

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
      .failure(FileError(kind: .other, path: "x", operation: "start", reason: "no")),
      kill: nil)
    #expect(try FileSystem.names(in: root) == ["other"])
    ScratchFolder.end(options, run: run)
    #expect(try FileSystem.names(in: Self.scratch(workshop)) == ["mine.txt"])
  }
}
