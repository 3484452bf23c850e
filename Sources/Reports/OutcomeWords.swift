import Captures
import Runner

/// How a capture ended, in the words that every text uses.
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
  public static func lacks(_ missing: [String]) -> String {
    var seen: Set<String> = []
    return missing.map(noun).filter { seen.insert($0).inserted }.map { "no \($0)" }
      .joined(separator: ", ")
  }

  /// What a file holds, by its name or ending; the name where nothing better is known.
  private static func noun(_ file: String) -> String {
    if let known = nouns[file] { return known }
    if file.hasSuffix("-secondary.mp4") { return "second video" }
    let ending = file.split(separator: ".", omittingEmptySubsequences: false).last.map(String.init)
    switch ending?.lowercased() {
    case "h264", "mp4", "mov", "mkv", "m4v": return "video"
    case "jpg", "jpeg", "png": return "picture"
    // The capture's own name: position and heading.
    case "json" where !file.hasPrefix("."): return "geo data"
    default: return file
    }
  }

  private static let nouns = [
    ".txt": "metadata", ".json": "metadata", "metadata.json": "metadata",
    ".depth": "depth", ".depth.zlib": "depth", "depth": "depth", "depth.bin": "depth",
    "depthBufferSequence": "depth", "depthBufferSequence.bin": "depth",
    ".confidence.zlib": "confidence", ".imu": "IMU", "imu_data.csv": "IMU",
    ".camera": "camera settings", ".jsonl": "camera info", "trans.json": "poses",
    "_trans.xml": "poses", "pose_intrinsic_imu.json": "poses",
    "frame_metadata.csv": "frame times", ".rot": "rotation rates (.rot)",
    ".acce": "accelerations (.acce)", ".mag": "magnetometer (.mag)", ".atti": "attitude (.atti)",
    ".grav": "gravity (.grav)",
  ]
}
