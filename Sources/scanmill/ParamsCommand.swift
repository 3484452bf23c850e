import ArgumentParser
import Engine
import Pages
import Core
import SystemPackage

struct ParamsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "params",
    abstract: "Every parameter that --set takes: default, unit, range, and what it does.",
    discussion: """
      Without words: all parameters of the pipeline 'default'. With stages: those of these stages only, as \
      in `params imu`, `params depth,aligned` or `params exports export-colmap`; `params imu.window` is one \
      parameter.
      """)

  @Argument(
    help: """
      A pipeline by name, or a pipeline file; then stages of it. Stages alone are looked for in the built-in \
      pipelines.
      """,
    completion: Completion.pipelineOrStage)
  var words: [String] = []

  @Flag(help: "Print one JSON object on standard output.")
  var json = false

  func run() throws {
    let (pipeline, names) = try choice()
    for name in names { try Self.check(name, in: pipeline) }
    let help = ParameterHelp(pipeline, only: names.isEmpty ? nil : Set(names))
    if json { Console.print(json: try JSONText.pretty(help)) } else { Console.print(help.text) }
  }

  /// Throws if there is no such stage, or the stage has no such parameter.
  private static func check(_ name: String, in pipeline: PipelineDefinition) throws {
    let stage = pipeline[name] == nil ? stage(of: name) : name
    try pipeline.checkStage(stage)
    guard stage != name else { return }
    let known = ParameterHelp(pipeline, only: [stage]).names
    if known.contains(name) { return }
    let parameters = known.map { String($0.dropFirst(stage.count + 1)) }
    throw CommandFailure(
      code: ExitStatus.usage,
      text: "stage '\(stage)' has no parameter '\(name.dropFirst(stage.count + 1))'"
        + NearestName.suggestion(String(name.dropFirst(stage.count + 1)), among: parameters)
        + "; it has: " + parameters.joined(separator: ", "))
  }

  /// `imu` of `imu.window`.
  private static func stage(of name: String) -> String {
    name.firstIndex(of: ".").map { String(name[..<$0]) } ?? name
  }

  /// The pipeline, and the stages and parameters of it that are named; none for all. A format is named with or without
  /// `export-`.
  private func choice() throws -> (PipelineDefinition, [String]) {
    guard let first = words.first else { return (try PipelineFinder.load("default"), []) }
    if PipelineFinder.builtIn.contains(first) || FileSystem.exists(FilePath(text: first)) {
      return (try PipelineFinder.load(first), StageNames.split(Array(words.dropFirst())))
    }
    let pipelines = try PipelineFinder.builtIn.map(PipelineFinder.load)
    let has = { (name: String) in
      pipelines.contains { $0[Self.stage(of: name)] != nil }
    }
    let names = StageNames.split(words).map { name in
      !has(name) && has("export-" + name) ? "export-" + name : name
    }
    if let pipeline = pipelines.first(where: { pipeline in
      names.allSatisfy { pipeline[Self.stage(of: $0)] != nil }
    }) {
      return (pipeline, names)
    }
    // Some of them may be stages; then the first that is none is reported.
    if let unknown = names.first(where: { !has($0) }), names.contains(where: has) {
      try pipelines[0].checkStage(unknown)
    }
    if names.allSatisfy(has) {
      throw CommandFailure(
        code: ExitStatus.usage,
        text:
          "no built-in pipeline has all of \(StageWords.list(names)); name a pipeline before them, "
          + "as in `scanmill params exports \(names.joined(separator: ","))`")
    }
    if let hint = BuiltInStages.hint(first) {
      throw CommandFailure(
        code: ExitStatus.badPipeline,
        text:
          "no pipeline or stage '\(first)': \(hint); `scanmill stages \(first)` lists its parameters"
      )
    }
    return (try PipelineFinder.load(first), [])
  }
}
