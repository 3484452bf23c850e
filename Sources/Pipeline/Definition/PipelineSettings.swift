/// A change of one parameter from the command line: `STAGE.PARAM=VALUE`.
public struct ParameterSetting: Hashable, Sendable, Codable {
  public var stage: String
  public var parameter: String
  public var value: String

  /// `nil` when the text has not the form.
  public init?(_ text: String) {
    guard let equals = text.firstIndex(of: "=") else { return nil }
    let target = text[..<equals]
    // The last one: stage names may hold dots, parameter names do not.
    guard let dot = target.lastIndex(of: ".") else { return nil }
    stage = String(target[..<dot])
    parameter = String(target[target.index(after: dot)...])
    value = String(text[text.index(after: equals)...])
    guard !stage.isEmpty, !parameter.isEmpty else { return nil }
  }
}

/// Something on the command line that the pipeline does not know.
public struct SettingError: Error, Hashable, Sendable, CustomStringConvertible {
  public var description: String
}

extension PipelineDefinition {
  /// The pipeline with one more parameter set. A parameter of an inner step is set under the name of
  /// the stage it is part of.
  public func setting(_ setting: ParameterSetting) throws(SettingError) -> PipelineDefinition {
    try checkStage(setting.stage)
    var result = self
    let byName = Dictionary(uniqueKeysWithValues: stages.map { ($0.name, $0) })
    let owners = PipelineReader.owners(of: setting.parameter, in: setting.stage, byName)
    if owners.isEmpty {
      let known = stages.filter { $0.name == setting.stage || $0.partOf == setting.stage }
        .flatMap { $0.kind.parameters.map(\.name) }
      throw SettingError(
        description:
          "stage '\(setting.stage)' has no parameter '\(setting.parameter)'"
          + NearestName.suggestion(setting.parameter, among: known))
    }
    for index in result.stages.indices where owners.contains(result.stages[index].name) {
      guard
        let description = PipelineReader.description(
          of: setting.parameter, in: setting.stage, taker: result.stages[index])
      else { continue }
      do throws(ParameterError) {
        result.stages[index].parameters[description.name] = try description.value(
          from: setting.value)
      } catch {
        var error = error
        error.name = setting.parameter
        throw SettingError(description: "\(setting.stage).\(error)")
      }
    }
    try result.checkConnections(after: setting)
    return result
  }

  /// A parameter may decide what a stage makes; those who read it must still be able to.
  private func checkConnections(after setting: ParameterSetting) throws(SettingError) {
    for stage in stages {
      if let problem = stage.kind.problems(stage).first {
        throw SettingError(
          description: "\(setting.stage).\(setting.parameter)=\(setting.value): \(problem.message)")
      }
      for input in stage.inputs {
        guard let upstream = self[input.stage],
          let port = stage.kind.ports.first(where: { $0.name == input.port })
        else { continue }
        let content = upstream.kind.content(upstream.parameters)
        guard content != port.accepts else { continue }
        throw SettingError(
          description:
            "\(setting.stage).\(setting.parameter)=\(setting.value): '\(upstream.name)' would make "
            + "\(content.rawValue), and '\(stage.name)' needs \(port.accepts.rawValue) from it")
      }
    }
  }

  /// Throws when the pipeline has no stage of this name.
  public func checkStage(_ name: String) throws(SettingError) {
    guard self[name] == nil else { return }
    throw SettingError(
      description: "the pipeline has no stage '\(name)'"
        + StageWords.hint(name, stages.map { ($0.name, $0.kind.name) }))
  }
}
