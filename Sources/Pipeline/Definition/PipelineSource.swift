/// A pipeline as it was given: text and settings, which another process can read in the same way.
public struct PipelineSource: Hashable, Sendable, Codable {
  /// How messages name it.
  public var name: String
  public var text: String
  /// From the command line, in order.
  public var settings: [ParameterSetting]
  /// From the command line, in place of the file's: 0...100.
  public var shortfallPercent: Double?
  /// Stages that were asked for by name, sorted; `nil`: none. One that does not apply to a capture is told in
  /// words, where others are passed over.
  public var named: [String]?
  /// What `--only`, `--from`, `--until` and `--export` left of it, never with forced stages; `nil`: every stage.
  public var limits: Selection?

  public init(
    name: String, text: String, settings: [ParameterSetting] = [], shortfallPercent: Double? = nil
  ) {
    self.name = name
    self.text = text
    self.settings = settings
    self.shortfallPercent = shortfallPercent
  }

  /// The pipeline with its settings. Throws `PipelineError` or `SettingError`.
  public func definition(_ registry: StageRegistry) throws -> PipelineDefinition {
    var pipeline = try settings.reduce(PipelineReader.read(text, file: name, registry: registry)) {
      try $0.setting($1)
    }
    if let shortfallPercent { pipeline.shortfallPercent = shortfallPercent }
    return pipeline
  }
}
