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
