import Captures
import Engine

/// What an export says about the time offset between camera and IMU.
enum TimeOffsetText {
  /// A sentence for `README.txt`; `nil` if no offset is added.
  ///
  /// - Parameter names: whether files are named by time.
  static func sentence(_ context: StageContext, names: Bool = false) -> String? {
    guard TimeOffsetChoice.isSet(context.parameters) else { return nil }
    // Without inertial samples nothing is measured, and nothing is added.
    if TimeOffsetChoice.isAuto(context.parameters), TimeOffsetChoice.words(context) == nil {
      return nil
    }
    let what = "timeOffset" + (TimeOffsetChoice.words(context).map { ", measured as \($0)," } ?? "")
    return
      "\(what) is added to the times \(names ? "and names " : "")of pictures; frames.csv has the times "
      + "without it."
  }

  /// A remark for formats of tools that calibrate: the readout that the app states, for which they have no field
  /// in the files of a recording; `nil` if it states none.
  static func readoutRemark(_ context: StageContext) -> String? {
    context.capture.color.value?.description.readoutSeconds.map { seconds in
      "The app states that the rows of a picture are read out within \(ExportReadme.rounded(seconds * 1000)) ms "
        + "(rolling shutter, median of the frames). No file here has a field for it."
    }
  }

  /// `timeOffset` of `export.json`: what was measured and added; `nil` if nothing was measured.
  static func measured(_ context: StageContext) -> JSONValue? {
    guard let measured = TimeOffsetChoice.measured(context), let offset = measured.nanoseconds,
      let interval = measured.interval
    else { return nil }
    return .object([
      "offsetNs": .integer(offset), "lowNs": .integer(interval.low),
      "highNs": .integer(interval.high),
    ])
  }
}
