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
    var table = CSVWriter(columns: frameColumns)
    let file = try GrowingFile(path)
    var rows = Array(0..<plan.frames)
    if plan.swapsFrameRows { rows.swapAt(plan.frames / 3, plan.frames / 3 + 1) }
    for frame in rows {
      appendFrame(frame, to: &table)
      if table.pendingByteCount > 1 << 16 { try file.append(table.drain()) }
    }
    try file.append(table.drain())
    try file.close()
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

  private func appendFrame(_ frame: Int, to table: inout CSVWriter) {
    let (seconds, iso) = exposure(frame)
    table.field(frame + plan.firstNumber)
    table.field(taken(frame))
    switch plan.form {
    case .v1:
      table.field(seconds)
      table.field(Double(iso))
      table.field(4.25)
    case .android:
      table.field(Int64((seconds * 1e9).rounded()))
      table.field(Double(iso))
      table.field(4.25)
      table.empty()
      table.empty()
    case .androidWide:
      table.field(Self.pictureName(frame))
      table.endRow()
      return
    }
    let (width, height) = rig.color.size
    table.row(frame < plan.wrongSizeRows ? width / 2 : width, height)
  }

  static func pictureName(_ frame: Int) -> String {
    "frames/frame_\(Decimals.padded(frame, 6)).png"
  }

  // MARK: imu_data.csv

  func writeInertial(_ samples: SessionSamples, to path: FilePath) throws {
    let file = try GrowingFile(path)
    if plan.form == .androidWide {
      try file.append("# recorder 1.0\n# units: m/s^2, rad/s\n")
      try writeWide(samples, to: file)
    } else {
      try writeLong(samples, to: file)
    }
    try file.close()
  }

  private func writeWide(_ samples: SessionSamples, to file: GrowingFile) throws {
    var table = CSVWriter(columns: [
      "timestamp_ns", "accel_x", "accel_y", "accel_z", "gyro_x", "gyro_y", "gyro_z",
    ])
    // One clock: accelerometer and gyroscope rows of one time are adjacent.
    for (accelerometer, gyroscope) in zip(
      samples.rows.filter { $0.type == 0 }, samples.rows.filter { $0.type == 1 })
    {
      table.field(accelerometer.nanoseconds)
      for value in accelerometer.value.array + gyroscope.value.array { table.field(value) }
      table.endRow()
    }
    try file.append(table.drain())
  }

  private func writeLong(_ samples: SessionSamples, to file: GrowingFile) throws {
    var columns = ["timestamp_ns", "sensor_type", "x", "y", "z"]
    if plan.lacksZ { columns.removeLast() }
    if plan.form == .android { columns += ["bias_x", "bias_y", "bias_z", "accuracy"] }
    var lines = [columns.joined(separator: ",")]
    let gyroscope = samples.rows.indices.filter { samples.rows[$0].type == 1 }
    var rows = samples.rows
    if plan.swapsGyroscope, gyroscope.count > 5 { rows.swapAt(gyroscope[3], gyroscope[4]) }
    for (index, row) in rows.enumerated() {
      lines.append(line(row))
      guard gyroscope.count > 8, index == gyroscope[7] else { continue }
      let next = row.nanoseconds + 1_000_000
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

  private func line(_ row: SessionSample) -> String {
    let names = SessionSamples.types
    let spelled =
      plan.form == .android
      ? ["ACCELEROMETER", "GYROSCOPE", "mag"][min(row.type, 2)] : names[row.type]
    var cells = ["\(row.nanoseconds)", spelled] + row.value.array.map { "\($0)" }
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

/// One row of a session's IMU table.
struct SessionSample {
  var nanoseconds: Int64
  /// Index into `SessionSamples.types`.
  var type: Int
  var value: Vector3
}

/// The samples of a session in time order.
struct SessionSamples {
  /// In the order of rows with the same time.
  static let types = [
    "accelerometer", "gyroscope", "magnetometer", "userAcceleration", "rotationRate", "gravity",
  ]
  let rows: [SessionSample]
  /// Types that this form records.
  let present: [Int]

  init(_ work: Synthesis<VISLAMFamily>) {
    let plan = work.plan
    let first = work.taken(0) - Int64(plan.inertialLead * 1e9)
    let end = work.taken(plan.frames - 1) + Int64(plan.inertialTail * 1e9)
    let middle = (first + end) / 2
    let gap = middle..<(middle + Int64(plan.inertialGapSeconds * 1e9))
    present =
      switch plan.form {
      case .v1: [0, 1, 3, 4, 5]
      case .android: [0, 1, 2]
      case .androidWide: [0, 1]
      }
    // Phones deliver 99.92 Hz for nominal 100. The accelerometer comes 1.25 ms after the gyroscope,
    // fused values in a separate callback.
    let lag: [Int: Int64] = [
      0: 1_250_000, 1: 0, 2: 2_300_000, 3: 3_100_000, 4: 3_100_000, 5: 3_100_000,
    ]
    var rows: [SessionSample] = []
    for type in present {
      let isWide = plan.form == .androidWide
      let clock = SampleClock(
        startNanoseconds: first + (isWide ? 0 : lag[type] ?? 0), rate: 99.92,
        jitterSeconds: 0.000_002, seed: work.options.seed,
        type > 2 || isWide ? "fused" : "raw \(type)")
      var sensors = work.inertialSensors()
      for time in clock.times(through: end) {
        let sample = sensors.sample(at: work.worldSeconds(time))
        guard !gap.contains(time) else { continue }
        rows.append(
          SessionSample(
            nanoseconds: time, type: type,
            value: Self.value(of: type, sample, isAndroid: plan.form.isAndroid)))
      }
    }
    rows.sort { ($0.nanoseconds, $0.type) < ($1.nanoseconds, $1.type) }
    self.rows = rows
  }

  /// m/s², rad/s, µT. iOS apps of this family use 9.81 for a g and CoreMotion's signs; Android
  /// reports specific force.
  private static func value(of type: Int, _ sample: InertialSample, isAndroid: Bool) -> Vector3 {
    switch type {
    case 0: sample.acceleration * (isAndroid ? -InertialSensors.standardGravity : 9.81)
    case 1: sample.gyroscope
    case 2: sample.magneticField
    case 3: sample.userAcceleration * 9.81
    case 4: sample.rotationRate
    default: sample.gravity * 9.81
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
