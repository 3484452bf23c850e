@testable import Captures
@testable import Engine
@testable import Core
import SystemPackage
import TestSupport
import Testing

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
