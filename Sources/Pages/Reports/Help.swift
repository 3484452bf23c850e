import Captures
import Core
import Engine

/// Describes the stages, their inputs and parameters, as text and as JSON.
public struct StageHelp: Encodable, Sendable {
  struct Parameter: Encodable {
    var name: String
    var domain: String
    /// `domain` under the name that `list parameters --json` has for it.
    var range: String
    var unit: String?
    var `default`: JSONValue
    /// The default in the form in which it can be set, with its unit; `nil` if there is none.
    var defaultText: String?
    var sentence: String
    /// The parameter that sets it, as `color.undistort`; `nil`: it is set by its own name.
    var setBy: String?
  }

  struct Input: Encodable {
    var name: String
    var accepts: String
    var required: Bool
    var sentence: String
  }

  struct Stage: Encodable {
    var name: String
    var version: Int
    var sentence: String
    var inputs: [Input]
    var parameters: [Parameter]
  }

  var schema = 1
  var stages: [Stage]

  public init(_ kinds: [any Engine.Stage.Type]) {
    stages = kinds.map { kind in
      Stage(
        name: kind.name, version: kind.version, sentence: kind.sentence,
        inputs: kind.ports.map {
          Input(
            name: $0.name, accepts: $0.accepts.rawValue, required: $0.isRequired,
            sentence: $0.sentence)
        },
        parameters: (kind.parameters.filter { !$0.isForExperts }
          + kind.parameters.filter(\.isForExperts)).map {
            Parameter(
              name: $0.name, domain: $0.domain, range: $0.domain, unit: $0.unit,
              default: $0.standard?.json ?? .null,
              defaultText: $0.standard.map($0.text(of:)), sentence: $0.sentence,
              setBy: $0.setBy)
          })
    }
  }

  /// One line per stage, or everything about one stage.
  public var text: String {
    if stages.count == 1 { return stages.map(Self.full).joined() }
    var table = TextTable()
    for stage in stages { table.add([stage.name, stage.sentence]) }
    return table.text
  }

  private static func full(_ stage: Stage) -> String {
    var lines = ["\(stage.name) (version \(stage.version))", "  \(stage.sentence)"]
    if !stage.inputs.isEmpty { lines.append("inputs") }
    for input in stage.inputs {
      lines.append(
        "  \(padded(input.name, 24))\(input.accepts)\(input.required ? "" : ", optional"): \(input.sentence)"
      )
    }
    let parameters = stage.parameters.filter { $0.setBy == nil }
    lines.append(parameters.isEmpty ? "no parameters" : "parameters")
    for parameter in parameters {
      let standard = parameter.defaultText ?? "not set"
      lines.append("  \(padded(parameter.name, 24))\(parameter.domain); default \(standard)")
      lines.append("  \(padded("", 24))\(parameter.sentence)")
    }
    return lines.joined(separator: "\n")
  }

  private static func padded(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(1, width - text.count))
  }
}

/// Lists all settable parameters of a pipeline, with the names for `--set`.
public struct ParameterHelp: Encodable, Sendable {
  struct Parameter: Encodable {
    var name: String
    /// The value in the pipeline; `null` if not set.
    var value: JSONValue
    var `default`: JSONValue
    /// Value and default in the form in which they can be set, with units; `nil` if not set.
    var valueText: String?
    var defaultText: String?
    var unit: String?
    var range: String
    var sentence: String
    var expert: Bool
    /// The parameter that sets it, as `color.undistort`; `nil`: it is set by its own name.
    var setBy: String?
  }

  var schema = 1
  var pipeline: String
  var parameters: [Parameter]

  /// - Parameter only: stages, with the parameters of their inner steps, and single parameters (`imu.window`); `nil` for
  ///   all.
  public init(_ pipeline: PipelineDefinition, only: Set<String>? = nil) {
    self.pipeline = pipeline.name
    parameters = []
    var seen: Set<String> = []
    for stage in pipeline.stages {
      let values = stage.parameters.json
      for description in stage.kind.parameters {
        // A parameter of an inner step is set under the name of its outer stage.
        let name = "\(stage.partOf ?? stage.name).\(description.name)"
        guard only?.contains(stage.partOf ?? stage.name) != false || only?.contains(name) == true,
          seen.insert(name).inserted
        else { continue }
        parameters.append(
          Parameter(
            name: name,
            value: values[description.name] ?? stage.parameters[description.name]?.json ?? .null,
            default: description.standard?.json ?? .null,
            valueText: stage.parameters[description.name].map(description.text(of:)),
            defaultText: description.standard.map(description.text(of:)),
            unit: description.unit, range: description.domain, sentence: description.sentence,
            expert: description.isForExperts, setBy: description.setBy))
      }
    }
    // Stages in the order of the pipeline, an inner step with its outer stage, and in each stage what people use first.
    let order = parameters.map { String($0.name.prefix { $0 != "." }) }
      .reduce(into: [String]()) { if !$1.isEmpty, !$0.contains($1) { $0.append($1) } }
    parameters = order.flatMap { stage in
      let own = parameters.filter { $0.name.hasPrefix(stage + ".") }
      return own.filter { !$0.expert } + own.filter(\.expert)
    }
  }

  /// Names that `--set` accepts before the `=`.
  public var names: [String] { parameters.map(\.name) }

  /// Those of them that people set.
  public var shownNames: [String] { parameters.filter { $0.setBy == nil }.map(\.name) }

  /// Two lines per parameter that people set: name, value if it differs from the default, default and range, and whether it
  /// is for experts; description. One that is named alone is told in any case.
  public var text: String {
    parameters.filter { $0.setBy == nil || parameters.count == 1 }.map { parameter in
      var line = "\(parameter.name)  default \(parameter.defaultText ?? "not set")"
      if parameter.value != parameter.default {
        line += ", here \(parameter.valueText ?? "not set")"
      }
      if parameter.expert { line += " (for experts)" }
      return line + "; \(parameter.range)\n    \(parameter.sentence)"
    }.joined(separator: "\n")
  }
}

extension ParameterDescription {
  fileprivate var setBy: String? {
    isFollowing ? sharedName.map { "\($0.stage).\($0.parameter)" } : nil
  }
}

/// Describes the known families, as text and as JSON.
public struct FamilyHelp: Encodable, Sendable {
  struct Family: Encodable {
    var name: String
    var generations: [String]
    /// How each generation is recognized, by its name.
    var marks: [String: String]
    /// How captures of the family are recognized.
    var recognized: String
    var readerVersion: Int
  }

  var schema = 1
  var families: [Family]

  public init(_ readers: [any CaptureReader.Type]) {
    families = readers.map { reader in
      let family = reader.description
      return Family(
        name: family.family.rawValue, generations: family.generations.map(\.name),
        marks: Dictionary(
          firstOf: family.generations.map { ($0.name, $0.mark) }),
        recognized: family.recognition, readerVersion: reader.readerVersion)
    }
  }

  /// One paragraph per family, one line per generation.
  public var text: String {
    families.map { family in
      let width = family.generations.map(\.count).max() ?? 0
      let lines = family.generations.map { name in
        "  \(name + String(repeating: " ", count: width - name.count))  \(family.marks[name] ?? "")"
      }
      return (["\(family.name): \(family.recognized)"] + lines).joined(separator: "\n")
    }.joined(separator: "\n")
  }
}

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
