import Captures
import Core

/// The outcome of a capture in the words that all texts use.
public enum OutcomeWords {
  /// `done`, `done, warnings: 1 kind, 3 occurrences`, `done, no video`, `failed`, `not possible`, …
  public static func text(
    _ outcome: RunOutcome, warnings: WarningCount, missing: [String]
  ) -> String {
    guard outcome.isDone else { return outcome.words }
    var text = "done"
    if !missing.isEmpty { text += ", \(lacks(missing))" }
    return warnings.isNone ? text : text + ", warnings: \(warnings.words)"
  }

  /// `no video, no IMU`; of streams of one file per picture `no depth_00004.png and 2 more like it`.
  ///
  /// - Parameter families: describe the content of files.
  public static func lacks(_ missing: [String], families: CaptureRegistry = .builtIn) -> String {
    var lacks: [(key: String, noun: String, count: Int)] = []
    for file in missing {
      let stream = numbered(file)
      let noun = stream == nil ? noun(file, families) : file
      if let known = lacks.firstIndex(where: { $0.key == stream ?? noun }) {
        lacks[known].count += stream == nil ? 0 : 1
      } else {
        lacks.append((stream ?? noun, noun, 1))
      }
    }
    return lacks.map { _, noun, count in
      count == 1 ? "no \(noun)" : "no \(noun) and \(count - 1) more like it"
    }.joined(separator: ", ")
  }

  /// `no IMU; waits for .imu`.
  static func waits(_ missing: [String], families: CaptureRegistry = .builtIn) -> String {
    guard !missing.isEmpty else { return "files are missing" }
    return "\(lacks(missing, families: families)); waits for \(named(missing))"
  }

  /// `.imu .camera`; at most eight files are named.
  static func named(_ files: [String]) -> String {
    files.prefix(8).map(\.onOneLine).joined(separator: " ")
      + (files.count > 8 ? " and \(files.count - 8) more" : "")
  }

  /// The stream of a file that holds one picture of many: its name without the number. `nil` for other files.
  private static func numbered(_ file: String) -> String? {
    guard let parts = file.wholeMatch(of: /(.*\/)?([A-Za-z]+_)?[0-9]+(\.[A-Za-z0-9]+)/) else {
      return nil
    }
    return "\(parts.1 ?? "")\(parts.2 ?? "")*\(parts.3)"
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
