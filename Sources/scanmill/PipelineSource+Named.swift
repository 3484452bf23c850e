import Exports
import Pipeline

/// What is asked for by name: told in words where it cannot be made, instead of being passed over.
extension PipelineSource {
  /// Where formats are named.
  enum FormatNaming {
    /// In settings of the command line alone: the pipeline holds every format, wanted or not.
    case settings
    /// Also by the pipeline itself: who names a format in a pipeline wants it.
    case settingsAndStages
  }

  /// The same, asking for the formats that it names. A pipeline that cannot be read names none: it is refused
  /// with its reason when it is read.
  func naming(formatsOf naming: FormatNaming) -> PipelineSource {
    guard let definition = try? definition(Toolbox.stages) else { return self }
    let formats = Set(
      definition.stages.filter { $0.kind is any ExportStage.Type }.map(\.name))
    let set = formats.intersection(settings.map(\.stage))
    return adding(named: Array(naming == .settings ? set : formats))
  }

  /// The same, also asking for `stages`.
  func adding(named stages: [String]) -> PipelineSource {
    guard !stages.isEmpty else { return self }
    var source = self
    source.named = Set((named ?? []) + stages).sorted()
    return source
  }
}
