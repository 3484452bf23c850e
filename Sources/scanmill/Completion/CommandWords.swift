import Engine
import Pages

/// An incomplete command line, for shell completion.
struct CommandWords {
  private let words: [String]

  init(_ words: [String]) { self.words = words }

  /// The value of `--pipeline`, or the default of `run`.
  var pipelineName: String {
    for (index, word) in words.enumerated() {
      if word == "--pipeline", index + 1 < words.count { return words[index + 1] }
      if word.hasPrefix("--pipeline=") { return String(word.dropFirst("--pipeline=".count)) }
    }
    return words.contains("--export") ? "exports" : "default"
  }

  /// Selectable stages; inner steps belong to the stage that they are part of.
  var stages: [String] { pipeline?.stages.filter { $0.partOf == nil }.map(\.name) ?? [] }

  /// The names that `--set` accepts.
  var parameters: [String] { pipeline.map { ParameterHelp($0).names } ?? [] }

  private var pipeline: PipelineDefinition? { try? PipelineFinder.load(pipelineName) }
}
