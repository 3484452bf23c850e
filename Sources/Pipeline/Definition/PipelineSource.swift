/// A pipeline as it was given: text and settings, which another process can read in the same way.
public struct PipelineSource: Hashable, Sendable, Codable {
  /// How messages name it.
  public var name: String
  public var text: String
  /// From the command line, in order.
  public var settings: [ParameterSetting]
  /// Stages that were asked for by name, sorted; `nil`: none. One that does not apply to a capture is told in
  /// words, where others are passed over.
  public var named: [String]?

  public init(name: String, text: String, settings: [ParameterSetting] = []) {
    self.name = name
    self.text = text
    self.settings = settings
  }

  /// The pipeline with its settings. Throws `PipelineError` or `SettingError`.
  public func definition(_ registry: StageRegistry) throws -> PipelineDefinition {
    try settings.reduce(PipelineReader.read(text, file: name, registry: registry)) {
      try $0.setting($1)
    }
  }
}
