import Captures
import Output
import Runner

/// The outcome of a capture in the words that all texts use.
public enum OutcomeWords {
  /// `done`, `done with warnings (1 kind, 3 occurrences)`, `done, incomplete: no video`, `failed`, …
  public static func text(
    _ outcome: CaptureReport.Outcome, warnings: WarningCount, missing: [String]
  ) -> String {
    guard outcome == .done else { return outcome.rawValue }
    if !missing.isEmpty {
      let text = "done, incomplete: \(lacks(missing))"
      return warnings.isNone ? text : text + ", with warnings (\(warnings.words))"
    }
    return warnings.isNone ? "done" : "done with warnings (\(warnings.words))"
  }

  public static func text(_ capture: CaptureReport) -> String {
    text(capture.outcome, warnings: capture.warningCount, missing: capture.missing)
  }

  /// `no video, no IMU`.
  ///
  /// - Parameter families: describe the content of files.
  public static func lacks(_ missing: [String], families: CaptureRegistry = .builtIn) -> String {
    var seen: Set<String> = []
    return missing.map { noun($0, families) }.filter { seen.insert($0).inserted }.map { "no \($0)" }
      .joined(separator: ", ")
  }

  /// The content of a file, by its name or ending; the name if the content is unknown.
  private static func noun(_ file: String, _ families: CaptureRegistry) -> String {
    if let known = families.content(ofFile: file) { return known }
    let ending = file.split(separator: ".", omittingEmptySubsequences: false).last.map(String.init)
    switch ending?.lowercased() {
    case "h264", "mp4", "mov", "mkv", "m4v": return "video"
    case "jpg", "jpeg", "png": return "picture"
    default: return file
    }
  }
}
