import Core
import Engine

/// Draws a pipeline as a graph.
public enum GraphText {
  public enum Format: String, CaseIterable, Sendable {
    case dot, mermaid, text
  }

  public static func text(_ pipeline: PipelineDefinition, as format: Format) -> String {
    switch format {
    case .dot: dot(pipeline)
    case .mermaid: mermaid(pipeline)
    case .text: plain(pipeline)
    }
  }

  private static func dot(_ pipeline: PipelineDefinition) -> String {
    var lines = ["digraph pipeline {", "  rankdir=LR;", "  node [shape=box];"]
    for stage in pipeline.stages {
      let style = stage.keep ? "" : ", style=dashed"
      lines.append("  \"\(stage.name)\" [label=\"\(stage.name)\\n\(stage.kind.name)\"\(style)];")
    }
    for (input, stage) in edges(pipeline) {
      let style = input.isOptional ? " [style=dashed]" : ""
      lines.append("  \"\(input.stage)\" -> \"\(stage)\"\(style);")
    }
    return (lines + ["}"]).joined(separator: "\n")
  }

  private static func mermaid(_ pipeline: PipelineDefinition) -> String {
    var lines = ["flowchart LR"]
    // Numbers serve as ids, because escaped names could collide.
    let ids = Dictionary(
      firstOf: pipeline.stages.enumerated().map { ($0.element.name, "s\($0.offset)") }
    )
    for stage in pipeline.stages {
      lines.append("  \(ids[stage.name] ?? "")[\"\(stage.name)<br/>\(stage.kind.name)\"]")
    }
    for (input, stage) in edges(pipeline) {
      lines.append(
        "  \(ids[input.stage] ?? "") \(input.isOptional ? "-.->" : "-->") \(ids[stage] ?? "")")
    }
    return lines.joined(separator: "\n")
  }

  private static func plain(_ pipeline: PipelineDefinition) -> String {
    pipeline.stages.map { stage in
      var text = "\(stage.name) (\(stage.kind.name))"
      let needed = stage.inputs.filter { !$0.isOptional }.map(\.stage)
      let optional = stage.inputs.filter(\.isOptional).map(\.stage)
      if !needed.isEmpty { text += " needs " + needed.joined(separator: ", ") }
      if !optional.isEmpty { text += " uses if there: " + optional.joined(separator: ", ") }
      if !stage.keep { text += " [removed after use]" }
      return text
    }.joined(separator: "\n")
  }

  private static func edges(_ pipeline: PipelineDefinition) -> [(PortBinding, String)] {
    pipeline.stages.flatMap { stage in stage.inputs.map { ($0, stage.name) } }
  }
}
