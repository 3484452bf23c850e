import ArgumentParser
import Engine

/// The pipeline with which results are compared: by default the one requested in each capture's
/// last run.
struct ComparisonArguments: ParsableArguments {
  @Option(
    help: "A pipeline by name, or a pipeline file; else that of each capture's last run.",
    completion: Completion.pipeline)
  var pipeline: String?

  @Option(
    help: ArgumentHelp(
      "Compare with this value of one parameter (repeatable); it counts for this command only.",
      valueName: "stage.param=value"),
    completion: Completion.setting)
  var set: [String] = []

  func validate() throws {
    for text in set where ParameterSetting(text) == nil {
      throw ValidationError(SettingHint.message(text, pipeline: pipeline ?? "default"))
    }
  }

  func examiner() throws -> OutputExaminer {
    // Without a named pipeline, settings are compared with each capture's own pipeline. Referenced
    // files are the same for all of them.
    let source = try PipelineFinder.source(pipeline ?? "default", settings: set)
    if let definition = try? source.definition(Toolbox.stages) {
      try source.checkFiles(definition)
    }
    return try checkedExaminer()
  }

  /// The pipeline that `run` would use with these options. `nil` if no pipeline is named and the
  /// default pipeline does not have this stage, which then belongs to an earlier request.
  func commandLine(about stage: String) throws -> PipelineDefinition? {
    let name = pipeline ?? "default"
    if pipeline == nil, try PipelineFinder.load(name)[stage] == nil { return nil }
    return try PipelineFinder.source(name, settings: set).definition(Toolbox.stages)
  }

  /// Compares with `chosen`, whatever was requested before.
  func examiner(comparing chosen: PipelineDefinition) throws -> OutputExaminer {
    let client = try InspectionCommand.client(atOnce: MachineLimits.cores)
    return OutputExaminer(
      captures: Toolbox.captures, stages: Toolbox.stages, chosen: chosen, standard: chosen,
      look: client.summary)
  }

  /// Compares with the earlier request, whatever these options are.
  static func askedExaminer() throws -> OutputExaminer {
    try ComparisonArguments.parse([]).checkedExaminer()
  }

  private func checkedExaminer() throws -> OutputExaminer {
    let client = try InspectionCommand.client(atOnce: MachineLimits.cores)
    return OutputExaminer(
      captures: Toolbox.captures, stages: Toolbox.stages,
      chosen: try pipeline.map(PipelineFinder.load), standard: try PipelineFinder.load("default"),
      settings: set.compactMap(ParameterSetting.init), look: client.summary)
  }
}
