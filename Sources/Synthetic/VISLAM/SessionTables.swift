import Core
import Media
import SystemPackage

/// Writes the two tables of a session.
extension Synthesis<VISLAMFamily> {
  /// Exposure time in seconds and sensitivity of a frame; those of the iOS app's first frame are
  /// unknown (0).
  func exposure(_ frame: Int) -> (seconds: Double, iso: Int) {
    if plan.form == .v1, frame == 0 { return (0, 0) }
    return (Decimals.round(options.shownExposureSeconds, 6), [100, 125, 160, 200][frame / 8 % 4])
  }

  // MARK: frame_metadata.csv

  func writeFrames(to path: FilePath) throws {
    var table = try TableFile(path, frameColumns)
    var rows = Array(0..<plan.frames)
    if plan.swapsFrameRows { rows.swapAt(plan.frames / 3, plan.frames / 3 + 1) }
    for frame in rows { try table.append(row(of: frame)) }
    try table.finish()
  }

  private var frameColumns: [String] {
    switch plan.form {
    case .v1:
      [
        "frame_number", "timestamp_ns", "exposure_duration", "iso", "focal_length", "width",
        "height",
      ]
    case .android:
      [
        "frame_number", "timestamp_ns", "exposure_time_ns", "iso", "focal_length_mm",
        "focal_length_px", "rolling_shutter_skew_ns", "width", "height",
      ]
    case .androidWide: ["frame_number", "timestamp_ns", "image_filename"]
    }
  }

  private func row(of frame: Int) -> [(any CSVCell)?] {
    let (seconds, iso) = exposure(frame)
    let key: [(any CSVCell)?] = [frame + plan.firstNumber, taken(frame)]
    let (width, height) = rig.color.size
    let size: [(any CSVCell)?] = [frame < plan.wrongSizeRows ? width / 2 : width, height]
    return switch plan.form {
    case .v1: key + [seconds, Double(iso), 4.25] + size
    case .android: key + [Int64((seconds * 1e9).rounded()), Double(iso), 4.25, nil, nil] + size
    case .androidWide: key + [Self.pictureName(frame)]
    }
  }

  static func pictureName(_ frame: Int) -> String {
    "frames/frame_\(frame.padded(6)).png"
  }

  // MARK: imu_data.csv

  func writeInertial(_ rows: [MotionRow], to path: FilePath) throws {
    let file = try GrowingFile(path)
    if plan.form == .androidWide {
      try file.append("# recorder 1.0\n# units: m/s^2, rad/s\n")
      try writeWide(rows, to: file)
    } else {
      try writeLong(rows, to: file)
    }
    try file.close()
  }

  private func writeWide(_ rows: [MotionRow], to file: GrowingFile) throws {
    var table = CSVWriter(columns: [
      "timestamp_ns", "accel_x", "accel_y", "accel_z", "gyro_x", "gyro_y", "gyro_z",
    ])
    // One clock: accelerometer and gyroscope rows of one time are adjacent.
    for (accelerometer, gyroscope) in zip(
      rows.filter { $0.sensor == .accelerometer }, rows.filter { $0.sensor == .gyroscope })
    {
      table.row([accelerometer.time] + accelerometer.value.array + gyroscope.value.array)
    }
    try file.append(table.drain())
  }

  private func writeLong(_ rows: [MotionRow], to file: GrowingFile) throws {
    var columns = ["timestamp_ns", "sensor_type", "x", "y", "z"]
    if plan.lacksZ { columns.removeLast() }
    if plan.form == .android { columns += ["bias_x", "bias_y", "bias_z", "accuracy"] }
    var lines = [columns.joined(separator: ",")]
    let gyroscope = rows.indices.filter { rows[$0].sensor == .gyroscope }
    var rows = rows
    if plan.swapsGyroscope, gyroscope.count > 5 { rows.swapAt(gyroscope[3], gyroscope[4]) }
    for (index, row) in rows.enumerated() {
      lines.append(line(row))
      guard gyroscope.count > 8, index == gyroscope[7] else { continue }
      let next = row.time + 1_000_000
      if plan.repeatsGyroscope { lines.append(line(row)) }
      if plan.hasNaNRow { lines.append("\(next),gyroscope,nan,0.1,0.2") }
      if plan.hasShortRow { lines.append("\(next),gyroscope,0.1,0.2") }
      for extra in 0..<plan.unknownRows {
        lines.append("\(next + Int64(extra) * 10_000_000),barometer,1013.25,0.0,0.0")
      }
    }
    let lineEnd = plan.hasForeignText ? "\r\n" : "\n"
    if plan.hasForeignText { try file.append("\u{FEFF}") }
    for line in lines.dropLast() { try file.append(line + lineEnd) }
    guard let last = lines.last else { return }
    try file.append(plan.cutsLastLine ? String(last.dropLast(4)) : last + lineEnd)
  }

  private func line(_ row: MotionRow) -> String {
    let spelled =
      plan.form == .android
      ? ["ACCELEROMETER", "GYROSCOPE", "mag"][row.sensor.rawValue] : "\(row.sensor)"
    var cells = ["\(row.time)", spelled] + row.value.array.map { "\($0)" }
    if plan.lacksZ { cells.removeLast() }
    if plan.form == .android { cells += ["", "", "", ""] }
    return cells.joined(separator: ",")
  }
}

/// What a VI-SLAM session contains in addition to pictures and samples.
struct SessionPlan: SyntheticPlan {
  let form: VISLAMFamily
  /// Number of rows in the frame table.
  let frames: Int

  var hasDepthCamera: Bool { false }

  /// Rows whose picture is missing.
  var lostPictures: Set<Int> = []
  /// The frame after which the camera loses half a period.
  var gapAfterFrame: Int?
  var firstNumber = 0
  /// Two neighboring rows of the frame table are exchanged.
  var swapsFrameRows = false
  /// Number of rows that state another picture size.
  var wrongSizeRows = 0

  var hasVideo = true
  var hasSecondVideo = false
  var hasFrameTable = true
  var hasInertialTable = true

  /// Seconds by which the sensors start before the first frame and end after the last; negative =
  /// inside.
  var inertialLead = 0.1
  var inertialTail = 0.1
  var inertialGapSeconds = 0.0
  var swapsGyroscope = false
  var repeatsGyroscope = false
  var hasNaNRow = false
  var hasShortRow = false
  var unknownRows = 0
  var lacksZ = false
  var hasForeignText = false
  var cutsLastLine = false

  func hasPicture(_ frame: Int) -> Bool { hasVideo && !lostPictures.contains(frame) }
  var pictures: Int { hasVideo ? frames - lostPictures.count : 0 }
}

extension Synthesis<VISLAMFamily> {
  /// The samples of a session in time order.
  var motionRows: [MotionRow] {
    let first = taken(0) - Int64(plan.inertialLead * 1e9)
    let end = taken(plan.frames - 1) + Int64(plan.inertialTail * 1e9)
    let middle = (first + end) / 2
    let gap = middle..<(middle + Int64(plan.inertialGapSeconds * 1e9))
    let isWide = plan.form == .androidWide
    return plan.form.sensors.flatMap { sensor in
      // Phones deliver 99.92 Hz for nominal 100. The accelerometer comes 1.25 ms after the gyroscope,
      // fused values in a separate callback.
      let (lag, callback): (Int64, String) =
        switch sensor {
        case .accelerometer: (1_250_000, "raw 0")
        case .gyroscope: (0, "raw 1")
        case .magnetometer: (2_300_000, "raw 2")
        default: (3_100_000, "fused")
        }
      let clock = SampleClock(
        startNanoseconds: first + (isWide ? 0 : lag), rate: 99.92, jitterSeconds: 0.000_002,
        seed: options.seed, isWide ? "fused" : callback)
      return motionSamples(clock.times(through: end)).filter { !gap.contains($0.time) }.map {
        MotionRow(time: $0, sensor: sensor, value: value(of: sensor, $1))
      }
    }.sorted()
  }

  /// m/s², rad/s, µT. iOS apps of this family use 9.81 for a g and CoreMotion's signs; Android
  /// reports specific force.
  private func value(of sensor: MotionSensor, _ sample: InertialSample) -> Vector3 {
    switch sensor {
    case .accelerometer:
      sample.acceleration * (plan.form.isAndroid ? -InertialSensors.standardGravity : 9.81)
    case .gyroscope: sample.gyroscope
    case .magnetometer: sample.magneticField
    case .userAcceleration: sample.userAcceleration * 9.81
    case .rotationRate: sample.rotationRate
    case .gravity: sample.gravity * 9.81
    case .attitude: sample.attitude
    }
  }
}

/// The times of a VI-SLAM session's pictures.
extension Synthesis<VISLAMFamily> {
  /// Nanoseconds of uptime when the picture of a frame was taken.
  func taken(_ frame: Int) -> Int64 {
    let isLater = plan.gapAfterFrame.map { frame > $0 } ?? false
    return clock.nanoseconds(of: frame) + (isLater ? Int64(clock.periodNanoseconds / 2) : 0)
  }

  /// The container's time of a row's picture in 1/600 s; 0 for the first existing picture.
  func ticks(_ row: Int) -> Int64 {
    let first = (0..<plan.frames).first { !plan.lostPictures.contains($0) } ?? 0
    return Int64((Double(taken(row) - taken(first)) / 1e9 * 600).rounded())
  }
}
