import Pipeline
import Reports

/// A command line that is being typed, as far as completions need to know it.
struct CommandWords {
  private let words: [String]

  init(_ words: [String]) { self.words = words }

  /// What `--pipeline` names, else what `run` takes.
  var pipelineName: String {
    for (index, word) in words.enumerated() {
      if word == "--pipeline", index + 1 < words.count { return words[index + 1] }
      if word.hasPrefix("--pipeline=") { return String(word.dropFirst("--pipeline=".count)) }
    }
    return words.contains("--export") ? "exports" : "default"
  }

  /// Stages that can be selected: inner steps go with the stage that they are part of.
  var stages: [String] { pipeline?.stages.filter { $0.partOf == nil }.map(\.name) ?? [] }

  /// Names that `--set` takes.
  var parameters: [String] { pipeline.map { ParameterHelp($0).names } ?? [] }

  private var pipeline: PipelineDefinition? { try? PipelineFinder.load(pipelineName) }
}
