import Core
import SystemPackage
import Yams

/// A pipeline as the user gave it: text and settings, from which another process can make the same
/// definition.
public struct PipelineSource: Hashable, Sendable, Codable {
  /// Name of the pipeline in messages.
  public var name: String
  public var text: String
  /// Settings from the command line, in order.
  public var settings: [ParameterSetting]
  /// Settings of stages that it lacks, for captures that are asked for these by other runs; `nil`: none.
  public var settingsOfOthers: [ParameterSetting]?
  /// Percentage from the command line, 0...100, which overrides the file's.
  public var shortfallPercent: Double?
  /// Stages of another pipeline in addition to those of `text`; `nil`: none.
  public var addition: Addition?
  /// Stages that the user named, sorted; `nil` if none. If one of them does not apply to a capture,
  /// that is reported; other stages are skipped silently.
  public var named: [String]?
  /// Formats that the pipeline's own text asks for, sorted; `nil` if none. One that does not apply to a capture is
  /// reported as well, but is not what the run is judged by.
  public var listed: [String]?
  /// Whether a stage is among those by which it is judged if a capture allows nothing of what was asked for: the named
  /// ones; all where only the pipeline's text lists formats.
  static func decides(_ stage: String, named: [String], listed: [String]) -> Bool {
    named.isEmpty ? !listed.isEmpty : named.contains(stage)
  }

  /// The limits of `--only` and `--until`, never with forced stages; `nil`
  /// for every stage.
  public var limits: Selection?

  /// Stages of a pipeline that are added to another one, with what they need.
  public struct Addition: Hashable, Sendable, Codable {
    var text: String
    var stages: [String]

    public init(text: String, stages: [String]) {
      self.text = text
      self.stages = stages
    }
  }

  public init(
    name: String, text: String, settings: [ParameterSetting] = [],
    shortfallPercent: Double? = nil, addition: Addition? = nil
  ) {
    self.name = name
    self.text = text
    self.settings = settings
    self.shortfallPercent = shortfallPercent
    self.addition = addition
  }

  /// The pipeline with its settings applied. Throws `PipelineError` or `SettingError`.
  public func definition(_ registry: StageRegistry) throws -> PipelineDefinition {
    var pipeline = try PipelineReader.read(text, file: name, registry: registry)
    if let addition {
      pipeline = pipeline.adding(
        addition.stages,
        of: try PipelineReader.read(addition.text, file: name, registry: registry))
    }
    pipeline = try settings.reduce(pipeline) { try $0.setting($1, of: pipeline) }
    if let shortfallPercent { pipeline.shortfallPercent = shortfallPercent }
    return pipeline
  }

  /// The source with digests in place of secrets: for records with which the pipeline is compared
  /// later.
  public func withDigestedSecrets(_ registry: StageRegistry) -> PipelineSource {
    replacingSecrets(registry, SecretText.digested)
  }

  /// The source without secrets: for copies that people read.
  public func withoutSecrets(_ registry: StageRegistry) -> PipelineSource {
    replacingSecrets(registry, SecretText.omitted)
  }

  /// Whether a setting is of a parameter whose value is a secret.
  public func isSecret(_ setting: ParameterSetting, _ registry: StageRegistry) -> Bool {
    guard let root = try? Yams.compose(yaml: text, .basic),
      let kind = root["stages"]?[setting.stage]?["uses"]?.string
    else { return false }
    return Self.secrets(of: kind, registry).contains(setting.parameter)
  }

  private static func secrets(of kind: String, _ registry: StageRegistry) -> [String] {
    registry[kind]?.parameters.filter(\.isSecret).map(\.name) ?? []
  }

  /// A text without secrets is unchanged; one with secrets is written anew, without comments. A
  /// text that cannot be parsed becomes empty, because its secrets cannot be identified.
  private func replacingSecrets(
    _ registry: StageRegistry, _ hide: (String) -> String
  ) -> PipelineSource {
    var result = self
    result.settings = settings.map { setting in
      guard isSecret(setting, registry) else { return setting }
      var hidden = setting
      hidden.value = hide(setting.value)
      return hidden
    }
    guard let stages = (try? Yams.compose(yaml: text, .basic))?["stages"]?.mapping else {
      result.text = ""
      return result
    }
    // Only what is written anew needs to know a number from a text.
    var hidden: Node?
    for (key, stage) in stages {
      guard let name = key.string, let kind = stage["uses"]?.string else { continue }
      for parameter in Self.secrets(of: kind, registry) {
        guard let value = stage["with"]?[parameter] else { continue }
        hidden = hidden ?? (try? Yams.compose(yaml: text))
        hidden?["stages"]?[name]?["with"]?[parameter] = Self.hidden(value, hide)
        result.text = ""
      }
    }
    if let hidden { result.text = (try? Yams.serialize(node: hidden)) ?? "" }
    return result
  }

  private static func hidden(_ node: Node, _ hide: (String) -> String) -> Node {
    if let list = node.sequence {
      return Node(list.map { hidden($0, hide) })
    }
    return Node(hide(node.scalar?.string ?? ""))
  }
}

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
        .flatMap { $0.kind.parameters.filter { !$0.isFollowing }.map(\.name) }
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

  /// Names of the stages that people name: no steps inside of others.
  public var shownStages: [String] { stages.filter { $0.partOf == nil }.map(\.name) }

  /// Throws if the pipeline has no stage of this name.
  public func checkStage(_ name: String) throws(SettingError) {
    guard self[name] == nil else { return }
    throw SettingError(
      description: "the pipeline has no stage '\(name)'"
        + StageWords.hint(name, stages.map { ($0.name, $0.kind.name) }, shown: shownStages))
  }
}

/// Checks before anything starts that files and folders exist that parameters name, and that no parameter is set that
/// has no effect beside the others. A wrong path would otherwise be found after other work is done, or be taken for a
/// capture without anything to align.
extension PipelineSource {
  /// Throws `SettingError` for a path from the command line and `PipelineError` for one in the
  /// pipeline file.
  ///
  /// - Parameter definition: the definition made from this source.
  public func checkFiles(_ definition: PipelineDefinition) throws {
    var diagnostics = DiagnosticList(file: name, text: text)
    for stage in definition.stages {
      let outer = stage.partOf.flatMap { definition[$0] }
      let idle = stage.kind.parameters.compactMap { parameter in
        definition.nothingTaken(by: parameter, in: stage)
          ?? parameter.problem(in: stage, outer).flatMap {
            definition.hasEffect(parameter, besides: stage) ? nil : $0
          }
      }
      for problem in idle + stage.kind.fileProblems(stage.parameters) {
        let owner = stage.partOf ?? stage.name
        let parameter = problem.parameter ?? ""
        let setting = settings.last {
          PipelineReader.description(of: $0.parameter, in: $0.stage, taker: stage)?.name
            == parameter
        }
        if let setting {
          throw SettingError(
            description: "\(setting.stage).\(setting.parameter): \(problem.message)")
        }
        let shared = stage.kind.parameters.first { $0.name == parameter }?.sharedName
        diagnostics.add(
          mark(of: parameter, in: [stage.name, owner])
            ?? shared.flatMap { mark(of: $0.parameter, in: [$0.stage]) },
          "\(parameter): \(problem.message)")
      }
    }
    if !diagnostics.all.isEmpty { throw PipelineError(diagnostics: diagnostics.all) }
  }

  /// Position of a parameter's value in the file.
  private func mark(of parameter: String, in stages: [String]) -> Mark? {
    guard let root = try? Yams.compose(yaml: text, .basic) else { return nil }
    return stages.lazy.compactMap { root["stages"]?[$0]?["with"]?[parameter]?.mark }.first
  }
}

extension PipelineDefinition {
  /// What is missing for an effect of a parameter that takes something through a port; `nil`: nothing.
  fileprivate func nothingTaken(
    by parameter: ParameterDescription, in stage: StageDefinition
  ) -> StageProblem? {
    guard let port = parameter.port, stage.parameters[parameter.name] != parameter.standard else {
      return nil
    }
    guard let input = stage.inputs.first(where: { $0.port == port }),
      let source = self[input.stage]
    else {
      return StageProblem(
        parameter: parameter.name, "has no effect: no stage is connected to '\(port)'")
    }
    return source.kind.nothingToDo(source).map {
      StageProblem(parameter: parameter.name, "has no effect: '\(source.name)' has \($0)")
    }
  }

  /// Whether a parameter that is set for several stages at once has an effect in another one than `stage`.
  fileprivate func hasEffect(
    _ parameter: ParameterDescription, besides stage: StageDefinition
  ) -> Bool {
    guard parameter.sharedName != nil else { return false }
    return stages.contains { other in
      other.name != stage.name
        && other.parameters[parameter.name] == stage.parameters[parameter.name]
        && other.kind.parameters.contains {
          $0.sharedName == parameter.sharedName
            && $0.problem(in: other, other.partOf.flatMap { self[$0] }) == nil
        }
    }
  }
}

extension StageProblem {
  /// The problem with a file that a parameter names; `nil` if it exists and can be read.
  public static func ofFile(_ path: String, parameter: String) -> StageProblem? {
    if FileSystem.isFolder(FilePath(path)) {
      return StageProblem(parameter: parameter, "\(path): is a folder; name a file")
    }
    do throws(FileError) {
      _ = try MappedFile(FilePath(path))
      return nil
    } catch {
      return StageProblem(parameter: parameter, "\(error)")
    }
  }

  /// The problem with a folder that a parameter names.
  static func ofFolder(_ path: String, parameter: String) -> StageProblem? {
    guard FileSystem.isFolder(FilePath(path)) else {
      let what = FileSystem.exists(FilePath(path)) ? "is a file; name a folder" : "no such folder"
      return StageProblem(parameter: parameter, "\(path): \(what)")
    }
    do throws(FileError) {
      _ = try FileSystem.names(in: FilePath(path))
      return nil
    } catch {
      return StageProblem(parameter: parameter, "\(error)")
    }
  }
}

extension Stage {
  /// Checks that all files and folders that parameters name exist and can be read.
  public static func fileProblems(_ parameters: ParameterValues) -> [StageProblem] {
    pathProblems(parameters)
  }

  /// Problems with paths, for stages that check more.
  public static func pathProblems(_ parameters: ParameterValues) -> [StageProblem] {
    self.parameters.compactMap { description in
      guard case .text(let path)? = parameters[description.name] else { return nil }
      switch description.kind {
      case .file: return StageProblem.ofFile(path, parameter: description.name)
      case .folder: return StageProblem.ofFolder(path, parameter: description.name)
      case .flag, .integer, .number, .choice, .duration, .durationOrAuto, .length, .lengthRange,
        .text, .spelled, .list:
        return nil
      }
    }
  }
}
