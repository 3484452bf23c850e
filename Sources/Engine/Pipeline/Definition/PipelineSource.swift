/// A pipeline as the user gave it: text and settings, from which another process can make the same
/// definition.
public struct PipelineSource: Hashable, Sendable, Codable {
  /// Name of the pipeline in messages.
  public var name: String
  public var text: String
  /// Settings from the command line, in order.
  public var settings: [ParameterSetting]
  /// Percentage from the command line, 0...100, which overrides the file's.
  public var shortfallPercent: Double?
  /// Stages that the user named, sorted; `nil` if none. If one of them does not apply to a capture,
  /// that is reported; other stages are skipped silently.
  public var named: [String]?
  /// The limits of `--only`, `--from`, `--until` and `--export`, never with forced stages; `nil`
  /// for every stage.
  public var limits: Selection?

  public init(
    name: String, text: String, settings: [ParameterSetting] = [], shortfallPercent: Double? = nil
  ) {
    self.name = name
    self.text = text
    self.settings = settings
    self.shortfallPercent = shortfallPercent
  }

  /// The pipeline with its settings applied. Throws `PipelineError` or `SettingError`.
  public func definition(_ registry: StageRegistry) throws -> PipelineDefinition {
    var pipeline = try settings.reduce(PipelineReader.read(text, file: name, registry: registry)) {
      try $0.setting($1)
    }
    if let shortfallPercent { pipeline.shortfallPercent = shortfallPercent }
    return pipeline
  }
}
