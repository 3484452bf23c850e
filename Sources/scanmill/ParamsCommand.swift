import ArgumentParser
import Output
import Pipeline
import Reports
import Runner
import Storage
import SystemPackage

struct ParamsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "params",
    abstract: "Every parameter that --set takes: default, unit, range, and what it does.",
    discussion: """
      Without words: all parameters of the pipeline 'default'. With stages: those of these stages only, as \
      in `params imu`, `params depth,aligned` or `params exports export-colmap`.
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
    let (pipeline, stages) = try choice()
    for stage in stages { try pipeline.checkStage(stage) }
    let help = ParameterHelp(pipeline, stages: stages.isEmpty ? nil : Set(stages))
    if json { Console.print(json: try JSONText.pretty(help)) } else { Console.print(help.text) }
  }

  /// The pipeline, and the stages of it that are named; none for all.
  private func choice() throws -> (PipelineDefinition, [String]) {
    guard let first = words.first else { return (try PipelineFinder.load("default"), []) }
    if PipelineFinder.builtIn.contains(first) || FileSystem.exists(FilePath(text: first)) {
      return (try PipelineFinder.load(first), StageNames.split(Array(words.dropFirst())))
    }
    let names = StageNames.split(words)
    let pipelines = try PipelineFinder.builtIn.map(PipelineFinder.load)
    if let pipeline = pipelines.first(where: { pipeline in
      names.allSatisfy { pipeline[$0] != nil }
    }) {
      return (pipeline, names)
    }
    // Some of them may be stages; then the first that is none is reported.
    let isStage = { (name: String) in pipelines.contains { $0[name] != nil } }
    if let unknown = names.first(where: { !isStage($0) }), names.contains(where: isStage) {
      try pipelines[0].checkStage(unknown)
    }
    if names.allSatisfy(isStage) {
      throw Failure(
        code: ExitStatus.usage,
        text:
          "no built-in pipeline has all of \(StageWords.list(names)); name a pipeline before them, "
          + "as in `scanmill params exports \(names.joined(separator: ","))`")
    }
    if let hint = BuiltInStages.hint(first) {
      throw Failure(
        code: ExitStatus.badPipeline,
        text:
          "no pipeline or stage '\(first)': \(hint); `scanmill stages \(first)` lists its parameters"
      )
    }
    return (try PipelineFinder.load(first), [])
  }
}
