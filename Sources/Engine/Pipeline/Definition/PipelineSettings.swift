import Core

/// A change of one parameter from the command line: `STAGE.PARAM=VALUE`.
public struct ParameterSetting: Hashable, Sendable, Codable {
  public var stage: String
  public var parameter: String
  public var value: String

  init(stage: String, parameter: String, value: String) {
    (self.stage, self.parameter, self.value) = (stage, parameter, value)
  }

  /// `STAGE.PARAM=VALUE`.
  var text: String { "\(stage).\(parameter)=\(value)" }

  /// Whether both are about one parameter.
  func isAboutSame(as other: ParameterSetting) -> Bool {
    stage == other.stage && parameter == other.parameter
  }

  /// `nil` unless the text has this form.
  public init?(_ text: String) {
    guard let equals = text.firstIndex(of: "=") else { return nil }
    let target = text[..<equals]
    // The last dot: stage names may contain dots, parameter names do not.
    guard let dot = target.lastIndex(of: ".") else { return nil }
    stage = String(target[..<dot])
    parameter = String(target[target.index(after: dot)...])
    value = String(text[text.index(after: equals)...])
    guard !stage.isEmpty, !parameter.isEmpty else { return nil }
  }
}

/// Something on the command line that does not exist in the pipeline.
public struct SettingError: Error, Hashable, CustomStringConvertible {
  public var description: String
}

extension PipelineDefinition {
  /// The pipeline with one more parameter set. A parameter of an inner step is set under the name
  /// of its outer stage.
  ///
  /// - Parameter original: the pipeline without other settings, whose value `default` stands for; `nil`: this one. It is
  ///   asked for only then.
  func setting(
    _ setting: ParameterSetting, of original: @autoclosure () -> PipelineDefinition? = nil,
    checksConnections: Bool = true
  ) throws(SettingError) -> PipelineDefinition {
    do throws(SettingError) {
      try checkStage(setting.stage)
    } catch {
      // A similar stage, or a kind, is more likely than a parameter of the same name elsewhere.
      let words = stages.map { ($0.name, $0.kind.name) }
      let isNear = !StageWords.hint(setting.stage, words).hasPrefix("; stages: ")
      let others = isNear ? [] : settable(setting.parameter)
      guard !others.isEmpty else { throw error }
      throw SettingError(
        description: "the pipeline has no stage '\(setting.stage)'" + Self.suggestion(others))
    }
    var result = self
    let byName = Dictionary(uniqueKeysWithValues: stages.map { ($0.name, $0) })
    let owners = PipelineReader.owners(of: setting.parameter, in: setting.stage, byName)
    if owners.isEmpty {
      if let gone = PipelineReader.gone(setting.parameter, in: setting.stage, byName) {
        throw SettingError(description: "\(setting.stage).\(setting.parameter) \(gone)")
      }
      let known = stages.filter { $0.name == setting.stage || $0.partOf == setting.stage }
        .flatMap { $0.kind.parameters.map(\.name) }
      let near = NearestName.suggestion(setting.parameter, among: known)
      throw SettingError(
        description:
          "stage '\(setting.stage)' has no parameter '\(setting.parameter)'"
          + (near.isEmpty ? Self.suggestion(settable(setting.parameter)) : near)
          + StageWords.parameters(known))
    }
    for index in result.stages.indices where owners.contains(result.stages[index].name) {
      guard
        let description = PipelineReader.description(
          of: setting.parameter, in: setting.stage, taker: result.stages[index])
      else { continue }
      do throws(ParameterError) {
        // Names the value of the pipeline, which counts against what earlier runs named.
        result.stages[index].parameters[description.name] =
          setting.value == "default"
          ? ((original() ?? self)[result.stages[index].name] ?? result.stages[index])
            .parameters[description.name]
          : try description.value(from: setting.value)
      } catch {
        var error = error
        error.name = setting.parameter
        if Self.wordsForNone.contains(setting.value) {
          error.expected += "; 'default' takes back what was set"
        }
        throw SettingError(description: "\(setting.stage).\(error)")
      }
    }
    if checksConnections { try result.checkConnections(after: setting) }
    return result
  }

  /// What people write who want no value.
  private static let wordsForNone: Set = ["", "none", "null", "nil", "unset", "not set"]

  /// Checks that all readers of a stage can still read it, since a parameter may determine what it
  /// makes.
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

  /// A suggestion for a setting without stage name, such as `window=20ms`: `", did you mean
  /// 'imu.window=20ms'?"`, or an empty text.
  public func suggestion(forSetting text: String) -> String {
    let bare = text.prefix { $0 != "=" }
    guard !bare.isEmpty, !bare.contains(".") else { return "" }
    let exact = settable(String(bare))
    let near = NearestName.find(
      String(bare), among: Set(stages.flatMap { $0.kind.parameters.map(\.name) }).sorted())
    let names = exact.isEmpty ? near.map(settable) ?? [] : exact
    return Self.suggestion(names.map { $0 + text.dropFirst(bare.count) })
  }

  /// All settable parameters of this name, in pipeline order: `imu.window`. Those of an inner step
  /// are listed under its outer stage.
  func settable(_ parameter: String) -> [String] {
    stages.filter { stage in stage.kind.parameters.contains { $0.name == parameter } }
      .map { "\($0.partOf ?? $0.name).\(parameter)" }.uniqued
  }

  /// Longer lists of suggestions are not useful.
  private static let mostSuggested = 4

  private static func suggestion(_ names: [String]) -> String {
    guard let last = names.last else { return "" }
    guard names.count > 1 else { return ", did you mean '\(last)'?" }
    if names.count > mostSuggested {
      let shown = names.prefix(mostSuggested).map { "'\($0)'" }.joined(separator: ", ")
      return ", did you mean one of \(shown), …?"
    }
    let shown = names.dropLast().map { "'\($0)'" }.joined(separator: ", ")
    return ", did you mean \(shown) or '\(last)'?"
  }

  /// Throws if the pipeline has no stage of this name.
  public func checkStage(_ name: String) throws(SettingError) {
    guard self[name] == nil else { return }
    throw SettingError(
      description: "the pipeline has no stage '\(name)'"
        + StageWords.hint(name, stages.map { ($0.name, $0.kind.name) }))
  }
}
