import Engine

/// Lists all settable parameters of a pipeline, with the names for `--set`.
public struct ParameterHelp: Encodable, Sendable {
  struct Parameter: Encodable {
    var name: String
    /// The value in the pipeline; `null` if not set.
    var value: JSONValue
    var standard: JSONValue
    /// Value and default in the form in which they can be set, with units; `nil` if not set.
    var valueText: String?
    var defaultText: String?
    var unit: String?
    var range: String
    var sentence: String
    var expert: Bool
    enum CodingKeys: String, CodingKey {
      case name, value, valueText, defaultText, unit, range, sentence, expert
      case standard = "default"
    }
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
            standard: description.standard?.json ?? .null,
            valueText: stage.parameters[description.name].map(description.text(of:)),
            defaultText: description.standard.map(description.text(of:)),
            unit: description.unit, range: description.domain, sentence: description.sentence,
            expert: description.isForExperts))
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

  /// Two lines per parameter: name, value if it differs from the default, default and range, and whether it is for
  /// experts; description.
  public var text: String {
    parameters.map { parameter in
      var line = "\(parameter.name)  default \(parameter.defaultText ?? "not set")"
      if parameter.value != parameter.standard {
        line += ", here \(parameter.valueText ?? "not set")"
      }
      if parameter.expert { line += " (for experts)" }
      return line + "; \(parameter.range)\n    \(parameter.sentence)"
    }.joined(separator: "\n")
  }
}
