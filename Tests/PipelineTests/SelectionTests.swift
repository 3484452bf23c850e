import Testing

@testable import Pipeline

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
    selection.from = ["imu"]
    #expect(
      selection.problem(in: pipeline) == "no stage is left by --only color and --from imu together")
    selection.from = []
    selection.forced = ["imu"]
    #expect(
      selection.problem(in: pipeline) == "-R imu is outside of what --only color selects")
    selection.only = ["depth"]
    selection.forced = ["frames", "depth"]
    #expect(selection.problem(in: pipeline) == nil)
  }

  @Test("Several stages after --until are done with all that each needs")
  func until() throws {
    var selection = Selection()
    selection.until = ["depth", "imu"]
    #expect(selection.stages(of: try Self.pipeline()) == ["frames", "depth", "imu"])
  }
}
