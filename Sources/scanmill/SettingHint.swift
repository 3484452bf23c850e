import Pipeline

/// What is said of a `--set` that has not the form STAGE.PARAM=VALUE.
enum SettingHint {
  /// With the parameters that end with what was given, of the pipeline that is run, else of that with every
  /// export.
  static func message(_ text: String, pipeline: String) -> String {
    let suggestion = [pipeline, "exports"].lazy
      .compactMap { (try? PipelineFinder.load($0))?.suggestion(forSetting: text) }
      .first { !$0.isEmpty }
    return "--set takes STAGE.PARAM=VALUE, not '\(text)'" + (suggestion ?? "")
  }
}
