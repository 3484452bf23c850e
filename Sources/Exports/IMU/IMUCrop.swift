import Geometry
import Pipeline

/// Which inertial samples belong to the frames of an export that leaves out the beginning or the end of a
/// capture: those of its frames, and some before and after, which filters start from.
package struct IMUCrop: Sendable {
  private let first: Timestamp
  private let last: Timestamp

  /// `nil` unless `first` or `last` leaves frames out and the exported ones have times: every sample is
  /// exported then.
  package init?(_ source: ExportSource, _ frames: ExportFrames) {
    let parameters = source.context.parameters
    guard parameters.integer("first") ?? 0 > 0 || parameters.integer("last") != nil,
      let margin = parameters.durationNanoseconds("imuMargin")
    else { return nil }
    let times = frames.frames.compactMap(source.time)
    guard let first = times.min(), let last = times.max() else { return nil }
    self.first = first.advanced(byNanoseconds: -margin)
    self.last = last.advanced(byNanoseconds: margin)
  }

  /// Keeps what lies within, and one sample outside at each end, so that no frame is before the first or after
  /// the last one whatever the margin is.
  ///
  /// - Parameter rows: in the order of time.
  /// - Returns: how many were removed.
  package func crop<Row>(_ rows: inout [Row], time: (Row) -> Timestamp) -> Int {
    let count = rows.count
    var start = rows.lastIndex { time($0) <= first } ?? 0
    var end = rows.firstIndex { time($0) > last } ?? (count - 1)
    guard start <= end else { return 0 }
    // Samples of several sensors at one time stay together.
    while start > 0, time(rows[start - 1]) == time(rows[start]) { start -= 1 }
    while end + 1 < count, time(rows[end + 1]) == time(rows[end]) { end += 1 }
    rows = Array(rows[start...end])
    return count - rows.count
  }

  /// What a README says of samples that were removed; `nil` where none was.
  package static func remark(_ cropped: Int, _ parameters: ParameterValues) -> String? {
    guard cropped > 0 else { return nil }
    let margin = DurationText.text(nanoseconds: parameters.durationNanoseconds("imuMargin") ?? 0)
    return
      "\(cropped) IMU samples are left out: they lie more than \(margin) before the first or after the last "
      + "exported frame (parameter imuMargin)."
  }
}
