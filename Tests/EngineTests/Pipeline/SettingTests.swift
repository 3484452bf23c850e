@testable import Engine
import Testing

@Suite("Parameters from the command line")
struct SettingTests {
  @Test(
    "A setting is STAGE.PARAM=VALUE; stage names may hold dots, values anything",
    arguments: [
      ("depth.range=1..2m", "depth", "range", "1..2m"), ("a.b=", "a", "b", ""),
      ("depth.v2.range=1", "depth.v2", "range", "1"), ("a.b=c=d.e", "a", "b", "c=d.e"),
    ])
  func forms(text: String, stage: String, parameter: String, value: String) throws {
    let setting = try #require(ParameterSetting(text))
    #expect(setting.stage == stage && setting.parameter == parameter && setting.value == value)
  }

  @Test("What is no setting is refused", arguments: ["", "a", "a.b", "a=b", ".b=c", "a.=c", "=.b"])
  func noSetting(text: String) {
    #expect(ParameterSetting(text) == nil)
  }

  static func set(_ texts: String...) throws -> PipelineDefinition {
    try texts.compactMap { ParameterSetting($0) }.reduce(try pipeline(usualPipeline)) {
      try $0.setting($1)
    }
  }

  @Test("A setting goes to the stage, or to the inner step that takes it; the last one wins")
  func applied() throws {
    let definition = try Self.set(
      "color.every=2", "depth.range=1..2m", "color.every=3", "frames.minimum=7")
    #expect(definition["color"]?.parameters[MakeColor.every] == 3)
    #expect(definition["frames"]?.parameters[MakeFrames.range] == 1...2)
    #expect(definition["frames"]?.parameters[MakeFrames.minimum] == 7)
    #expect(definition["depth"]?.parameters[MakeFrames.range] == nil)
  }

  @Test(
    "What the pipeline does not know is named, with the nearest that it knows",
    arguments: [
      ("colour.every=2", "the pipeline has no stage 'colour', did you mean 'color'?"),
      (
        "reconstruction.x=2",
        "the pipeline has no stage 'reconstruction'; stages: color, frames, depth, aligned, tables"
      ),
      (
        "make-tables.x=2",
        "the pipeline has no stage 'make-tables': make-tables is a kind; the stage is called tables"
      ),
      (
        "color.evry=2",
        "stage 'color' has no parameter 'evry', did you mean 'every'?; it has: every, first"
      ),
      (
        "depth.rnge=1",
        "stage 'depth' has no parameter 'rnge', did you mean 'range'?; it has: "
          + "range, shifts, minimum, scale, window, change, mode, note, table, tables, arguments, stream"
      ),
      (
        "aligned.every=2",
        "stage 'aligned' has no parameter 'every', did you mean 'color.every'?; it has none"
      ),
      (
        "reconstruction.every=2",
        "the pipeline has no stage 'reconstruction', did you mean 'color.every'?"
      ),
      (
        "aligned.minimum=2",
        "stage 'aligned' has no parameter 'minimum', did you mean 'depth.minimum'?; it has none"
      ),
      (
        "depth.range=1..2",
        "depth.range: '1..2' is not two lengths with their units, such as 0.3m..4m; write 1mm..2mm or 1m..2m"
      ),
      ("color.every=0", "color.every: '0' is not a whole number from 1"),
      (
        "color.every=",
        "color.every: '' is not a whole number from 1; 'default' takes back what was set"
      ),
      (
        "depth.stream=confidence",
        "depth.stream=confidence: 'depth' would make confidence-images, and 'tables' needs depth-images from it"
      ),
    ])
  func errors(text: String, message: String) {
    let error = #expect(throws: SettingError.self) { try Self.set(text) }
    #expect(error?.description == message)
  }

  @Test(
    "A setting without its stage suggests the parameters that end with it",
    arguments: [
      ("window=20ms", ", did you mean 'depth.window=20ms'?"),
      ("range=1m..2m", ", did you mean 'depth.range=1m..2m'?"),
      ("windw=20ms", ", did you mean 'depth.window=20ms'?"),
      ("every", ", did you mean 'color.every'?"), ("every=2", ", did you mean 'color.every=2'?"),
      ("nothing=2", ""), ("=2", ""), ("", ""), ("color.every", ""),
    ])
  func bare(text: String, suggestion: String) throws {
    #expect(try pipeline(usualPipeline).suggestion(forSetting: text) == suggestion)
  }
}
