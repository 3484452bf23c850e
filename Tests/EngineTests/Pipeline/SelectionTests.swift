import FoundationEssentials
import Testing

@testable import Engine

@Suite("Selections that can do nothing")
struct SelectionTests {
  private static func pipeline() throws -> PipelineDefinition {
    func stage(_ name: String, _ inputs: [String] = [], partOf: String? = nil) -> StageDefinition {
      StageDefinition(
        name: name, kind: MakeColor.self, parameters: ParameterValues(defaultsOf: []),
        inputs: inputs.map { PortBinding(port: $0, stage: $0, isOptional: false) }, partOf: partOf)
    }
    return PipelineDefinition(
      name: "p",
      stages: [
        stage("color"), stage("frames", partOf: "depth"), stage("depth", ["frames"]),
        stage("imu"),
      ])
  }

  @Test("Limits that select nothing are all reported; so is a forced stage outside them")
  func problems() throws {
    let pipeline = try Self.pipeline()
    var selection = Selection()
    #expect(selection.problem(in: pipeline) == nil)
    selection.only = ["color"]
    selection.until = ["imu"]
    #expect(
      selection.problem(in: pipeline) == "no stage is left by --only color and --until imu together"
    )
    selection.until = []
    selection.forced = ["imu"]
    #expect(
      selection.problem(in: pipeline) == "-R imu is outside of what --only color selects")
    selection.only = ["depth"]
    selection.forced = ["frames", "depth"]
    #expect(selection.problem(in: pipeline) == nil)
  }

  @Test("Several stages of one option are united, those of several options are what all have")
  func several() throws {
    let pipeline = try Self.pipeline()
    var selection = Selection()
    selection.only = ["depth", "imu"]
    #expect(selection.stages(of: pipeline) == ["frames", "depth", "imu"])
    #expect(selection.limitWords == ["--only depth,imu"])
    selection.until = ["color", "imu"]
    #expect(selection.stages(of: pipeline) == ["imu"])
    #expect(selection.limitWords == ["--only depth,imu", "--until color,imu"])
    selection.only = []
    #expect(selection.stages(of: pipeline) == ["color", "imu"])
    #expect(selection.limits == selection)
  }

  @Test(
    "A name with a number names the capture that had it first",
    arguments: [
      ("room~2", "room"), ("room~12", "room"), ("room~1", nil), ("room", nil), ("room~x", nil),
      ("room~02", nil),
    ] as [(String, String?)])
  func twins(folder: String, twin: String?) {
    #expect(OutputName.twin(of: folder) == twin)
  }

  @Test("Several stages after --until are done with all that each needs")
  func until() throws {
    var selection = Selection()
    selection.until = ["depth", "imu"]
    #expect(selection.stages(of: try Self.pipeline()) == ["frames", "depth", "imu"])
  }
}
