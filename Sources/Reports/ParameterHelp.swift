import Pipeline

/// Every parameter that can be set in a pipeline, under the name that `--set` takes.
public struct ParameterHelp: Encodable, Sendable {
  struct Parameter: Encodable {
    var name: String
    /// As the pipeline has it; `null`: not set.
    var value: JSONValue
    var standard: JSONValue
    /// The same as they could be set, with their units; `nil`: not set.
    var valueText: String?
    var defaultText: String?
    var unit: String?
    var range: String
    var sentence: String
    enum CodingKeys: String, CodingKey {
      case name, value, valueText, defaultText, unit, range, sentence
      case standard = "default"
    }
  }

  var schema = 1
  var pipeline: String
  var parameters: [Parameter]

  public init(_ pipeline: PipelineDefinition) {
    self.pipeline = pipeline.name
    parameters = []
    var seen: Set<String> = []
    for stage in pipeline.stages {
      let values = stage.parameters.json
      for description in stage.kind.parameters {
        // A parameter of an inner step is set under the name of the stage it is part of.
        let name = "\(stage.partOf ?? stage.name).\(description.name)"
        guard seen.insert(name).inserted else { continue }
        parameters.append(
          Parameter(
            name: name,
            value: values[description.name] ?? stage.parameters[description.name]?.json ?? .null,
            standard: description.standard?.json ?? .null,
            valueText: stage.parameters[description.name].map(description.text(of:)),
            defaultText: description.standard.map(description.text(of:)),
            unit: description.unit, range: description.domain, sentence: description.sentence))
      }
    }
  }

  /// What `--set` takes before the `=`.
  public var names: [String] { parameters.map(\.name) }

  /// Two lines per parameter: name, value where it differs from the default, default and range; what it
  /// does.
  public var text: String {
    parameters.map { parameter in
      var line = "\(parameter.name)  default \(parameter.defaultText ?? "not set")"
      if parameter.value != parameter.standard {
        line += ", here \(parameter.valueText ?? "not set")"
      }
      return line + "; \(parameter.range)\n    \(parameter.sentence)"
    }.joined(separator: "\n")
  }
}
