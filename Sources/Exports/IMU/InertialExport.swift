import Captures
import Codecs
import Geometry
import Pipeline
import Processing
import Stages
import Storage

/// The six-axis stream of an export, and what a user must know of it.
package struct InertialExport: Sendable {
  package let imu: SixAxisIMU
  /// What it states.
  package let content: ExportContent.Inertial

  /// Below this, inertial odometry loses track between two pictures.
  private static let usefulHertz = 100.0

  /// - Parameter context: of the capture that the samples are from.
  package init(_ imu: SixAxisIMU, _ context: StageContext) {
    self.imu = imu
    var content = ExportContent.Inertial()
    content.isSpecificForce = true
    content.interpolated = Self.interpolated(imu.rows, context.capture.imu.value)
    content.lacksNoise = Self.noise(context.parameters).isEmpty
    self.content = content
  }

  /// Rows whose acceleration was not recorded at their time. Cost: a pass over the samples.
  package static func interpolated(_ rows: [SixAxisIMU.Row], _ imu: IMUStream?) -> Int {
    guard let imu else { return 0 }
    let times = IMUSources.specificForce(imu, imu.convention).map(\.timestamp)
    var position = 0
    return rows.count { row in
      while position < times.count, times[position] < row.timestamp { position += 1 }
      let near = [position - 1, position].filter(times.indices.contains)
      return !near.contains { (times[$0] - row.timestamp).magnitude <= sameTimeNanoseconds }
    }
  }

  /// As `SixAxisIMU`: a sample that close is taken as it is.
  private static let sameTimeNanoseconds: UInt64 = 500

  /// Steps per second by the median step, rounded, at least 1; `nil` for a single time or none.
  package static func hertz(_ times: [Timestamp]) -> Int? {
    guard let rate = TimeSteps(times).rateHz else { return nil }
    return max(1, Int(rate.rounded()))
  }

  /// Of the samples.
  package var hertz: Int? { Self.hertz(imu.rows.map(\.timestamp)) }

  /// One row per sample: time, angular velocity, specific force; **no further column**.
  ///
  /// - Parameter digits: of times, padded with zeros on the left.
  package func write(
    _ name: String, columns: [String], digits: Int = 0, _ context: StageContext
  ) throws {
    var table = try TableFile(name, columns, context.staging)
    for row in imu.rows {
      if digits > 0 {
        table.csv.field(TimeText.nanoseconds(row.timestamp, digits: digits))
      } else {
        table.csv.field(row.timestamp.nanoseconds)
      }
      let (w, a) = (row.angularVelocity, row.specificForce)
      for value in [w.x, w.y, w.z, a.x, a.y, a.z] { table.csv.field(value) }
      try table.endRow()
    }
    try table.finish()
  }

  /// Noise densities under the names of a tool's file, those that are given.
  package static func noise(_ parameters: ParameterValues) -> [(String, YAMLText.Value)] {
    [
      ("gyroscopeNoise", "gyroscope_noise_density"),
      ("gyroscopeWalk", "gyroscope_random_walk"),
      ("accelerometerNoise", "accelerometer_noise_density"),
      ("accelerometerWalk", "accelerometer_random_walk"),
    ].compactMap { parameter, key in
      parameters.number(parameter).map { (key, .number($0)) }
    }
  }

  /// What the account and the README say of the samples.
  package func describe(
    _ account: inout ExportAccount, _ readme: inout ExportReadme, _ context: StageContext
  ) {
    account.imu = (imu.rows.count, imu.leftOut)
    if ExportParameters.timeOffsetNanoseconds(context.parameters) != 0 {
      readme.conventions.append(
        "timeOffset is added to the times and names of pictures; frames.csv has the times without it."
      )
    }
    let rate = TimeSteps(imu.rows.map(\.timestamp)).rateHz
    if let rate, rate < Self.usefulHertz {
      readme.remarks.append(
        "The IMU has \(ExportReadme.rounded(rate)) samples per second. Inertial odometry needs 100 or "
          + "more; expect it to fail or to drift.")
    }
    if imu.leftOut > 0 {
      readme.remarks.append(
        "\(imu.leftOut) gyroscope samples are left out: no acceleration lies around them, or their time is "
          + "not later than that of the sample before.")
    }
  }
}
