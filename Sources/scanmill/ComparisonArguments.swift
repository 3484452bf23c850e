import ArgumentParser
import Output
import Pipeline
import Runner

/// What results are compared with: as they were asked for in their last run, or otherwise.
struct ComparisonArguments: ParsableArguments {
  @Option(
    help: "A pipeline by name, or a pipeline file; else that of each capture's last run.",
    completion: Completion.pipeline)
  var pipeline: String?

  @Option(
    help: ArgumentHelp("Set one parameter (repeatable).", valueName: "stage.param=value"),
    completion: Completion.setting)
  var set: [String] = []

  func validate() throws {
    for text in set where ParameterSetting(text) == nil {
      throw ValidationError(SettingHint.message(text, pipeline: pipeline ?? "default"))
    }
  }

  func examiner() throws -> OutputExaminer {
    // Settings alone are compared with each capture's own pipeline; files are the same in all.
    let source = try PipelineFinder.source(pipeline ?? "default", settings: set)
    if let definition = try? source.definition(Toolbox.stages) {
      try source.checkFiles(definition)
    }
    return try checkedExaminer()
  }

  /// The pipeline that a `run` with these options would ask for; `nil` where none is named and the one that a
  /// `run` then takes has no such stage: the stage is of what was asked for before.
  func commandLine(about stage: String) throws -> PipelineDefinition? {
    let name = pipeline ?? "default"
    if pipeline == nil, try PipelineFinder.load(name)[stage] == nil { return nil }
    return try PipelineFinder.source(name, settings: set).definition(Toolbox.stages)
  }

  /// Compares with a pipeline, whatever was asked for.
  func examiner(comparing chosen: PipelineDefinition) throws -> OutputExaminer {
    let looker = try InspectionCommand.looker(atOnce: MachineLimits.cores)
    return OutputExaminer(
      captures: Toolbox.captures, stages: Toolbox.stages, chosen: chosen, standard: chosen,
      look: looker.summary)
  }

  /// Compares with what was asked for, whatever these options say.
  static func askedExaminer() throws -> OutputExaminer {
    try ComparisonArguments.parse([]).checkedExaminer()
  }

  private func checkedExaminer() throws -> OutputExaminer {
    let looker = try InspectionCommand.looker(atOnce: MachineLimits.cores)
    return OutputExaminer(
      captures: Toolbox.captures, stages: Toolbox.stages,
      chosen: try pipeline.map(PipelineFinder.load), standard: try PipelineFinder.load("default"),
      settings: set.compactMap(ParameterSetting.init), look: looker.summary)
  }
}
