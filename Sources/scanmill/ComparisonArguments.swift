import ArgumentParser
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

  private func checkedExaminer() throws -> OutputExaminer {
    let looker = try InspectionCommand.looker(atOnce: MachineLimits.cores)
    return OutputExaminer(
      captures: Toolbox.captures, stages: Toolbox.stages,
      chosen: try pipeline.map(PipelineFinder.load), standard: try PipelineFinder.load("default"),
      settings: set.compactMap(ParameterSetting.init), look: looker.summary)
  }
}
