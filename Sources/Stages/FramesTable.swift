import Captures
import Media
import Core
import Engine

/// Writes `frames.csv`: one row per canonical frame. A path in a cell always names an existing
/// file.
struct FramesTable {
  private static let pathColumns = ["color", "depth", "confidence", "aligned"]
  private let context: StageContext
  private let paths: [String: [Int: String]]
  private let settings: [Int: CameraSettingsRow]

  init(_ context: StageContext) {
    self.context = context
    paths = context.inputs.mapValues { input in
      FrameFileName.pictures(in: input.record).mapValues { "\(input.stage)/\($0.path)" }
    }
    let rows = context.capture.cameraSettings.value?.rows ?? []
    settings = Dictionary(rows.map { ($0.frame, $0) }) { first, _ in first }
  }

  func write() throws {
    var table = try TableFile(
      "frames.csv",
      ["frame", "timestamp_ns", "color_timestamp_ns", "depth_timestamp_ns"] + Self.pathColumns
        + ["exposure_s", "iso"], context.staging)
    // Frames that follow from the pictures alone have no rows if their times are of another clock.
    let all = context.capture.frames
    let belong = context.capture.framesProblem == nil || all.allSatisfy { $0.timestamp == nil }
    for (index, frame) in (belong ? all : []).enumerated() {
      table.csv.field(index)
      table.csv.field(frame.timestamp?.nanoseconds)
      table.csv.field(hasColorTime(index) ? frame.colorTimestamp?.nanoseconds : nil)
      table.csv.field(hasDepthTime(index) ? frame.depthTimestamp?.nanoseconds : nil)
      for column in Self.pathColumns { table.csv.field(paths[column]?[index]) }
      table.csv.field(settings[index]?.exposureSeconds)
      table.csv.field(settings[index]?.iso)
      try table.endRow()
      context.progress.advance()
    }
    try table.finish()
  }

  /// Whether frame `frame` has a color time. A picture file that could not be decoded is a hole
  /// without time; videos tell beforehand which pictures they have.
  private func hasColorTime(_ frame: Int) -> Bool {
    guard case .pictures? = context.capture.color.value?.source, context.inputs["color"] != nil
    else { return true }
    return paths["color"]?[frame] != nil
  }

  /// Whether frame `frame` has a depth time. A record that could not be decoded is a hole without
  /// time; without depth pictures the reader's information is used.
  private func hasDepthTime(_ frame: Int) -> Bool {
    guard context.capture.depthTimesNeedPictures, context.inputs["depth"] != nil else {
      return true
    }
    return paths["depth"]?[frame] != nil
  }
}
