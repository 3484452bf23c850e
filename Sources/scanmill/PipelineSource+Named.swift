import Stages
import Engine

/// Marks formats and stages that were requested by name. If these cannot be created, a message says
/// why.
extension PipelineSource {
  /// The places that name formats.
  enum FormatNaming {
    /// Only settings of the command line, because the pipeline lists all formats.
    case settings
    /// The pipeline too: a format that it lists is wanted.
    case settingsAndStages
  }

  /// This source, requesting the formats that it names. A pipeline that cannot be read names none;
  /// reading it later reports the error.
  func naming(formatsOf naming: FormatNaming) -> PipelineSource {
    guard let definition = try? definition(Toolbox.stages) else { return self }
    let formats = Set(
      definition.stages.filter { $0.kind is any ExportStage.Type }.map(\.name))
    let set = formats.intersection(settings.map(\.stage))
    return adding(named: Array(naming == .settings ? set : formats))
  }

  /// This source, also requesting `stages`.
  func adding(named stages: [String]) -> PipelineSource {
    guard !stages.isEmpty else { return self }
    var source = self
    source.named = Set((named ?? []) + stages).sorted()
    return source
  }
}
