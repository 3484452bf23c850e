import Pipeline

/// A pipeline as a drawing.
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
    for stage in pipeline.stages {
      lines.append("  \(id(stage.name))[\"\(stage.name)<br/>\(stage.kind.name)\"]")
    }
    for (input, stage) in edges(pipeline) {
      lines.append("  \(id(input.stage)) \(input.isOptional ? "-.->" : "-->") \(id(stage))")
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

  private static func id(_ name: String) -> String {
    "s_" + name.map { $0.isLetter || $0.isNumber ? $0 : "_" }
  }
}
