import Captures
import Core
import Engine
import Media
import Processing

/// The six-axis stream of an export, with remarks for the user.
struct InertialExport {
  let imu: SixAxisIMU
  /// Description of the exported samples.
  private let content: ExportContent.Inertial
  /// The noise densities that are given, under the names in a tool's file.
  let noise: YAMLText.Pairs
  /// The rate of the samples: that of the file of noise, else the nominal one.
  let hertz: Int?

  /// Rate below which inertial odometry loses track between two pictures.
  private static let usefulHertz = 100.0

  /// Number of samples left out because they are too far from the exported frames.
  private let cropped: Int

  /// - Parameters:
  ///   - crop: the times to export; `nil` for all.
  ///   - context: that of the capture.
  init(_ imu: SixAxisIMU, cropped crop: IMUCrop?, _ context: StageContext) throws {
    var imu = imu
    cropped = crop?.crop(&imu.rows, time: \.timestamp) ?? 0
    self.imu = imu
    let file = try context.externalFiles[ExportParameters.noiseFile.name].map(
      ExportParameters.noise)
    noise = ExportParameters.densities.compactMap { density in
      (context.parameters[density.parameter] ?? file?.densities[density.key])
        .map { (density.key, .number($0)) }
    }
    hertz = file?.hertz.map { Int($0.rounded()) } ?? Self.nominalHertz(imu.rows.map(\.timestamp))
    content = ExportContent.Inertial(
      isSpecificForce: true,
      interpolated: Self.interpolated(imu.rows, context.capture.imu.value),
      lacksNoise: noise.isEmpty)
  }

  /// Number of rows whose acceleration was not recorded at their time. Cost: a pass over the
  /// samples.
  static func interpolated(_ rows: [SixAxisIMU.Row], _ imu: IMUStream?) -> Int {
    guard let imu else { return 0 }
    let times = imu.specificForce(imu.convention).map(\.timestamp)
    var position = 0
    return rows.count { row in
      while position < times.count, times[position] < row.timestamp { position += 1 }
      let near = [position - 1, position].filter(times.indices.contains)
      return !near.contains {
        (times[$0] - row.timestamp).magnitude <= SixAxisIMU.sameTimeNanoseconds
      }
    }
  }

  /// Steps per second by the median step, rounded, at least 1; `nil` for a single time or none.
  static func hertz(_ times: [Timestamp]) -> Int? {
    guard let rate = TimeSteps(times).rateHz else { return nil }
    return max(1, Int(rate.rounded()))
  }

  /// Rates to which inertial sensors are set. Measured rates differ by less than a percent.
  private static let nominalRates = [
    25, 50, 60, 100, 120, 125, 150, 200, 240, 250, 400, 500, 800, 1000,
  ]

  /// The rate to which an IMU was set: a usual rate if the median step is within 1 % of it (99.8 Hz
  /// is 100 Hz), else that of the median step, rounded; `nil` for a single time or none.
  static func nominalHertz(_ times: [Timestamp]) -> Int? {
    guard let rate = TimeSteps(times).rateHz else { return nil }
    let nearest = nominalRates.min { abs(Double($0) - rate) < abs(Double($1) - rate) }
    if let nearest, abs(Double(nearest) - rate) <= Double(nearest) / 100 { return nearest }
    return max(1, Int(rate.rounded()))
  }

  /// A sentence about a rate that is too low to track a camera; `nil` if it suffices.
  static func remark(onRateOf times: [Timestamp]) -> String? {
    guard let rate = TimeSteps(times).rateHz, let nominal = nominalHertz(times),
      Double(nominal) < usefulHertz
    else { return nil }
    return
      "The IMU has \(ExportReadme.rounded(rate)) samples per second. Inertial odometry needs 100 or "
      + "more; expect it to fail or to drift."
  }

  /// Writes one row per sample: time, angular velocity, specific force; **no further column**.
  ///
  /// - Parameter digits: number of digits of times, padded with zeros on the left.
  func write(
    _ name: String, columns: [String], digits: Int = 0, _ context: StageContext
  ) throws {
    var table = try TableFile(name, columns, context.staging)
    for row in imu.rows {
      if digits > 0 {
        table.csv.field(row.timestamp.nanoseconds.padded(digits))
      } else {
        table.csv.field(row.timestamp.nanoseconds)
      }
      let (w, a) = (row.angularVelocity, row.specificForce)
      for value in [w.x, w.y, w.z, a.x, a.y, a.z] { table.csv.field(value) }
      try table.endRow()
    }
    try table.finish()
  }

  /// Adds what `export.json` and README state about the samples.
  func describe(
    _ content: inout ExportContent, _ readme: inout ExportReadme, _ context: StageContext
  ) {
    content.inertial = self.content
    content.imu = (imu.rows.count, imu.leftOut + cropped)
    if let remark = IMUCrop.remark(cropped, context.parameters) { readme.remarks.append(remark) }
    if let sentence = TimeOffsetChoice.sentence(context, names: true) {
      readme.conventions.append(sentence)
    }
    if let remark = Self.remark(onRateOf: imu.rows.map(\.timestamp)) {
      readme.remarks.append(remark)
    }
    if imu.leftOut > 0 {
      readme.remarks.append(
        "\(imu.leftOut) gyroscope samples are left out: no acceleration lies around them, or their time is "
          + "not later than that of the sample before.")
    }
  }
}

/// Limits inertial samples to the exported frames if the beginning or the end of a capture is left
/// out, with a margin on both sides from which filters start.
struct IMUCrop {
  private let first: Timestamp
  private let last: Timestamp

  /// `nil` unless `first`, `last` or `segment` leaves frames out and the exported ones have times; every
  /// sample is exported then.
  init?(_ source: ExportSource, _ frames: [Int]) {
    let parameters = source.context.parameters
    guard
      parameters[CommonParameters.first] > 0 || parameters[CommonParameters.last] != nil
        || PoseSegments.isChosen(parameters)
    else { return nil }
    let margin = parameters[ExportParameters.imuMargin]
    let times = frames.compactMap(source.time)
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
    let margin = DurationSyntax.text(nanoseconds: parameters[ExportParameters.imuMargin])
    return
      "\(cropped) IMU samples are left out: they lie more than \(margin) before the first or after the last "
      + "exported frame (parameter imuMargin)."
  }
}
