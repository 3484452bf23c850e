import Engine

/// Describes the stages, their inputs and parameters, as text and as JSON.
public struct StageHelp: Encodable, Sendable {
  struct Parameter: Encodable {
    var name: String
    var domain: String
    /// `domain` under the name that `list parameters --json` has for it.
    var range: String
    var unit: String?
    var standard: JSONValue
    /// The default in the form in which it can be set, with its unit; `nil` if there is none.
    var defaultText: String?
    var sentence: String
    enum CodingKeys: String, CodingKey {
      case name, domain, range, unit, defaultText, sentence
      case standard = "default"
    }
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
              standard: $0.standard?.json ?? .null,
              defaultText: $0.standard.map($0.text(of:)), sentence: $0.sentence)
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
    lines.append(stage.parameters.isEmpty ? "no parameters" : "parameters")
    for parameter in stage.parameters {
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
