@testable import Captures
@testable import Engine
@testable import Core
import SystemPackage
import Testing

@Suite("What was asked for of a capture")
struct AskedStagesTests {
  private static func source(_ name: String, _ settings: String...) -> PipelineSource {
    PipelineSource(name: name, text: "", settings: settings.compactMap(ParameterSetting.init))
  }

  @Test("Asked for are the stages of the last run and those with a result, and no other")
  func stages() throws {
    let workshop = try Workshop()
    var limits = Selection()
    let whole = AskedStages(of: workshop.pipeline, limits: limits)
    #expect(workshop.pipeline.stages.allSatisfy { whole.contains($0.name) })
    limits.until = ["depth"]
    let part = AskedStages(
      of: workshop.pipeline, limits: limits, added: ["aligned"], published: ["tables"])
    #expect(
      workshop.pipeline.stages.map(\.name).filter(part.contains) == ["frames", "depth", "tables"])
    let other = AskedStages(
      of: workshop.pipeline, added: ["color", "aligned"], published: ["aligned"])
    #expect(!other.contains("color") && other.contains("aligned") && other.contains("depth"))
  }

  @Test(
    "Results of earlier runs keep the request under which they were made; a later request takes them over"
  )
  func earlier() {
    let (first, second, third) = (
      Self.source("a"), Self.source("b", "x.y=1"), Self.source("c")
    )
    let one = EarlierRequests().adding(
      first, selected: ["color"], published: ["color", "depth", "imu"])
    #expect(one.requests == [.init(source: first, stages: ["depth", "imu"])])
    let two = one.adding(second, selected: ["tables"], published: ["color", "depth", "imu"])
    #expect(
      two.requests == [
        .init(source: second, stages: ["color"]), .init(source: first, stages: ["depth", "imu"]),
      ])
    // One of them was removed, another is asked for again.
    let rest = two.adding(third, selected: ["color"], published: ["color", "depth"])
    #expect(rest.requests == [.init(source: first, stages: ["depth"])])
    #expect(rest.adding(third, selected: ["color", "depth"], published: ["depth"]).requests == [])
    // The request is made once more.
    let again = one.adding(first, selected: [], published: ["color", "depth", "imu"])
    #expect(again.requests == [.init(source: first, stages: ["color", "depth", "imu"])])
  }

  @Test("A stage of an earlier pipeline stands behind what it needs, which comes with it")
  func joined() throws {
    let last = try PipelineReader.read(
      "schema: 1\nstages:\n  tables: {uses: toy-tables, optional: [color]}\n  color: {uses: toy-color}",
      file: "last.yaml", registry: .toys)
    let earlier = try Workshop().pipeline
    let joined = last.adding(["depth"], of: earlier)
    #expect(joined.stages.map(\.name) == ["color", "tables", "frames", "depth"])
    #expect(joined["tables"]?.inputs.count == 1)
    #expect(last.adding(["tables"], of: earlier)["tables"]?.inputs.count == 3)
  }
}
