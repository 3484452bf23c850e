import Core
import Engine

/// Limits inertial samples to the exported frames if the beginning or the end of a capture is left
/// out, with a margin on both sides from which filters start.
struct IMUCrop: Sendable {
  private let first: Timestamp
  private let last: Timestamp

  /// `nil` unless `first` or `last` leaves frames out and the exported ones have times; every
  /// sample is exported then.
  init?(_ source: ExportSource, _ frames: ExportFrames) {
    let parameters = source.context.parameters
    guard parameters.integer("first") ?? 0 > 0 || parameters.integer("last") != nil,
      let margin = parameters.durationNanoseconds("imuMargin")
    else { return nil }
    let times = frames.frames.compactMap(source.time)
    guard let first = times.min(), let last = times.max() else { return nil }
    self.first = first.advanced(byNanoseconds: -margin)
    self.last = last.advanced(byNanoseconds: margin)
  }

  /// Keeps the rows inside, and one sample outside at each end, so that no frame is before the
  /// first or after the last sample whatever the margin.
  ///
  /// - Parameter rows: in time order.
  /// - Returns: the number of removed rows.
  func crop<Row>(_ rows: inout [Row], time: (Row) -> Timestamp) -> Int {
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

  /// A remark for the README about removed samples; `nil` if there are none.
  static func remark(_ cropped: Int, _ parameters: ParameterValues) -> String? {
    guard cropped > 0 else { return nil }
    let margin = DurationSyntax.text(nanoseconds: parameters.durationNanoseconds("imuMargin") ?? 0)
    return
      "\(cropped) IMU samples are left out: they lie more than \(margin) before the first or after the last "
      + "exported frame (parameter imuMargin)."
  }
}
