import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import Captures
@testable import Core
@testable import Engine

@Suite("Records that are not believed")
struct SoundnessTests {
  struct Change: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var change: @Sendable (inout ArtifactRecord) -> Void

    init(_ name: String, _ change: @escaping @Sendable (inout ArtifactRecord) -> Void) {
      testDescription = name
      self.change = change
    }

    static let all = [
      Change("unknown schema") { $0.schema = 2 },
      Change("no outputs") { $0.outputs = [] },
      Change("no outputs and their digest") {
        $0.outputs = []
        $0.outputDigest = $0.outputs.digest
      },
      Change("another outputDigest") { $0.outputDigest = Digest(of: "x") },
      Change("one output less") { $0.outputs.removeLast() },
      Change("a size, at its own digest") {
        $0.outputs[0].sha256 = Digest(of: "x")
      },
      Change("an output outside") {
        $0.outputs[0].path = "../capture.json"
        $0.outputDigest = $0.outputs.digest
      },
      Change("an output twice") {
        $0.outputs.append($0.outputs[0])
        $0.outputDigest = $0.outputs.digest
      },
    ]
  }

  @Test(
    "A record that does not hang together is not up to date, whoever reads it",
    arguments: Change.all)
  func unsound(change: Change) throws {
    for stage in ["color", "tables"] {
      for withIndex in Rounds.isSoak ? [true, false] : [stage == "color"] {
        let workshop = try RerunTests.done()
        #expect(workshop.run().exit == 0)
        var record = try #require(workshop.record(stage))
        change.change(&record)
        try OutputFile.write(JSONText.pretty(record), to: workshop.layout().record(stage))
        if !withIndex { try FileSystem.remove(workshop.layout().index) }
        let plan = workshop.plan()
        #expect(plan.first == "\(stage) run outputs-altered")
        let store = ArtifactStore(workshop.layout())
        #expect(store.input(stage) == nil)
        #expect(store.record(stage) == nil)
        if stage == "color" {
          // What needs it and runs alone does not read it.
          #expect(workshop.run(.forced("tables").only("tables")).exit == 0)
          #expect(workshop.published("tables") == "[aligned [frames deep]][depth [frames deep]]")
        }
        let result = workshop.run()
        #expect(result.exit == 0)
        #expect(result.busy().first == "\(stage) made outputs-altered")
        #expect(workshop.run().busy() == [])
      }
    }
  }

  @Test("A removed intermediate whose record does not hang together is built again")
  func removed() throws {
    let workshop = try RerunTests.done()
    let file = workshop.layout().removedRecord("frames")
    let text = try #require(Text.read(file))
    try Text.write(text.replacing("\"schema\" : 1", with: "\"schema\" : 3"), to: file)
    try #require(Text.read(file) != text)
    #expect(workshop.plan().first == "frames run outputs-altered")
    #expect(workshop.run().busy() == ["frames made outputs-altered"])
  }

  @Test("An artifact that rightly has no files says so, and is up to date")
  func empty() throws {
    let ingredients = FingerprintInputs(
      uses: "toy", version: 1, parameters: [:],
      inputs: ArtifactRecord.Inputs(artifacts: [:], capture: nil, external: [:]))
    var record = try ArtifactRecord(
      stage: "depth", ingredients: ingredients, recorded: [:], outputs: [], started: "",
      finished: "", seconds: 1, cpuSeconds: 1, peakMemoryBytes: 1, frames: 0, warnings: [])
    #expect(record.problem(of: "depth") == nil)
    #expect(record.problem(of: "color") != nil)
    record.recorded = [:]
    #expect(record.problem(of: "depth") == "it lists no outputs")
  }
}

@Suite("Which captures need no worker, found out ahead")
struct UpToDateCheckTests {
  @Test("Settled, open and locked captures are told apart, in the order asked for")
  func findings() throws {
    let workshop = try Workshop()
    for number in 0..<40 { try workshop.add("c\(number)") }
    let later = CaptureCacheTests.later
    #expect(workshop.run(clock: later).exit == 0)
    try workshop.write("other", to: "color.bin", of: "c7")
    let batch = workshop.batch(Selection(), { _ in }, clock: later)
    let targets = batch.targets(workshop.findings(nil))
    let lock = try FileLock(at: workshop.layout("c9").lock, holder: "a test") { _ in false }
    defer { withExtendedLifetime(lock) {} }
    let indices = Array(targets.indices.reversed())
    let found = UpToDateCheck(batch, targets).look(at: indices, until: Interruption())
    #expect(found.map(\.index) == indices)
    let open = found.filter { $0.upToDate == nil }
    #expect(Set(open.map { targets[$0.index].layout.name }) == ["c7", "c9"])
    #expect(
      found.filter(\.isLocked).map { targets[$0.index].layout.name } == ["c9"])
    for finding in found {
      guard let report = finding.upToDate else { continue }
      #expect(report == batch.upToDate(targets[finding.index]))
    }
  }

  @Test("An interrupt ends it: what was not looked at is left out")
  func interrupted() throws {
    let workshop = try Workshop()
    let batch = workshop.batch(Selection(), { _ in }, clock: .system)
    let interruption = Interruption()
    interruption.request(graceSeconds: 1, clock: .system)
    let targets = batch.targets(workshop.findings(nil))
    #expect(UpToDateCheck(batch, targets).look(at: [0], until: interruption).isEmpty)
  }
}

@Suite("A run before anything is written about it")
struct PreparedRunTests {
  @Test(
    "Where a stage is lacking a worker starts before the output exists, and loads what videos need; dismissed, it is gone"
  )
  func startsEarly() throws {
    let workshop = try Workshop()
    let note = workshop.folder.path.appending("process")
    let prepared = try prepared(
      workshop, "echo $$ $0 > \(note).new; mv \(note).new \(note); exec cat")
    defer { prepared.dismiss() }
    Waiting.until("a worker without an order") { FileSystem.exists(note) }
    #expect(!FileSystem.exists(workshop.output))
    let words = try #require(Text.read(note)).split { $0.isWhitespace }
    #expect(words.dropFirst() == ["--video"])
    let process = try #require(words.first.flatMap { pid_t($0) })
    #expect(kill(process, 0) == 0)
    prepared.dismiss()
    #expect(kill(process, 0) == -1 && errno == ESRCH)
  }

  @Test("Where every capture has results none is expected to be needed, also without intermediates")
  func upToDate() throws {
    let workshop = try Workshop()
    #expect(workshop.run().exit == 0)
    let prepared = try prepared(workshop, "exec cat")
    defer { prepared.dismiss() }
    #expect(!prepared.isWorkLikely && prepared.order == [0])
  }

  /// Of the capture of a workshop, with a script in the place of workers.
  private func prepared(_ workshop: Workshop, _ script: String) throws -> PreparedRun {
    let batch = workshop.batch(Selection(), { $0.cores = 2 }, clock: .system)
    let source = PipelineSource(name: "usual", text: Workshop.usual)
    return Supervisor(batch, source: source, program: "/bin/sh", arguments: ["-c", script])
      .prepare(batch.targets(workshop.findings(["scan"])))
  }
}
