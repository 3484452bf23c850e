import Engine

/// The message for a `--set` value that is not of the form STAGE.PARAM=VALUE.
enum SettingHint {
  /// The message with suggestions: parameters that end with `text`, from the given pipeline, else
  /// from `exports`.
  static func message(_ text: String, pipeline: String) -> String {
    let suggestion = [pipeline, "exports"].lazy
      .compactMap { (try? PipelineFinder.load($0))?.suggestion(forSetting: text) }
      .first { !$0.isEmpty }
    return "--set takes STAGE.PARAM=VALUE, not '\(text)'" + (suggestion ?? "")
  }
}
