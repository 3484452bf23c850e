import Core

/// What a reader must find in a Stray Scanner capture, computed from the plan by the rules of the
/// format.
extension Synthesis<StrayScannerFamily> {
  func expectation(firstSample: Int64?) -> Expectation {
    var expectation = Expectation()
    let rows = Set(plan.rows)
    for frame in 0..<plan.canonicalFrames {
      expectation.add(
        rows.contains(frame) ? recorded(frame) : nil,
        hasColor: plan.readablePictures.contains(frame),
        hasDepth: frame < plan.frames && plan.depth.isReadable(frame))
    }
    expectation.warnings = plan.warnings(expectation.frames, firstSample)
    return expectation
  }
}

extension StrayPlan {
  fileprivate func warnings(_ times: [Int64?], _ firstSample: Int64?) -> WarningTally {
    var warnings = WarningTally()
    depth.count(in: &warnings, of: "depth")
    confidence.count(in: &warnings, of: "confidence")
    countFiles(&warnings)
    countRows(&warnings, times)
    countLengths(&warnings)
    countMotion(&warnings, times, firstSample)
    return warnings
  }

  private func countFiles(_ warnings: inout WarningTally) {
    warnings.add("missing-file", of: "color", video == .absent)
    warnings.add("missing-file", of: "depth", depth.isAbsent)
    if confidence.isAbsent, generation.hasConfidence {
      warnings.add("missing-file", of: "confidence")
    }
    warnings.add("missing-file", of: "poses", odometry == .absent)
    let hasIntrinsics =
      hasMatrix || generation.hasIntrinsicsPerFrame && odometry == .present
    if !hasIntrinsics, odometry != .withoutColumn {
      warnings.add("calibration-missing", of: "color")
    }
  }

  private func countRows(_ warnings: inout WarningTally, _ times: [Int64?]) {
    switch odometry {
    case .absent: warnings.add("timestamps-missing", of: "frames", canonicalFrames)
    case .withoutColumn: return
    case .present:
      warnings.add("timestamps-missing", of: "frames", times.count { $0 == nil })
      warnings.addSteps(times.filter { $0 != nil })
      let edits = rowEdits.values
      warnings.add("timestamps-duplicate", of: "frames", edits.count { $0 == .repeated })
      warnings.add("corrupt-record", of: "poses", edits.count { $0 == .broken })
      warnings.add("non-finite-value", of: "poses", edits.count { $0 == .notFinite })
      warnings.add("untracked-poses", of: "poses", untrackedRows)
      warnings.add("truncated-stream", of: "poses", cutsLastRow)
      warnings.add("pose-jump", of: "poses", damage.poseJump != nil)
    }
  }

  private func countLengths(_ warnings: inout WarningTally) {
    let color: Int? =
      video == .absent || video == .withoutIndex ? nil : pictures.count
    let depth = depth.fileCount(frames: 0..<frames)
    let confidence = confidence.fileCount(frames: 0..<frames)
    let lengths: [(name: String, count: Int?)] = [
      ("color", color), ("depth", depth), ("confidence", confidence),
    ]
    warnings.addLengths(
      lengths,
      expected: odometry == .present
        ? rows.count : lengths.compactMap(\.count).max() ?? 0)
    warnings.addDifference(color: color, depth: depth)
    if video == .encodedAgain, odometry == .present {
      warnings.add("pairing-approximate", of: "color", pictures.count)
    }
  }

  private func countMotion(
    _ warnings: inout WarningTally, _ times: [Int64?], _ firstSample: Int64?
  ) {
    switch motion {
    case .absent, .headerAlone:
      warnings.add("imu-missing", of: "imu")
      return
    case .withoutColumn: return
    case .present: break
    }
    warnings.add("corrupt-record", of: "imu", hasBrokenSample)
    warnings.add("non-finite-value", of: "imu", hasNaNSample)
    warnings.add("truncated-stream", of: "imu", cutsLastSample)
    guard let firstSample else { return }
    let early = times.count { time in
      time.map { firstSample - $0 > 250_000_000 } ?? false
    }
    warnings.add("imu-outside-frames", of: "imu", early)
  }
}

/// One row of `odometry.csv`, as stored and as in a reader's tables.
struct StrayRow {
  let frame: Int
  let time: String
  let nanoseconds: Int64?
  /// x, y, z, qx, qy, qz, qw.
  private let numbers: [String]
  private let intrinsics: PinholeCamera
  private let edit: StrayPlan.RowEdit?

  init(_ work: Synthesis<StrayScannerFamily>, _ frame: Int) {
    let (plan, state) = (work.plan, work.rig.motion.state(at: work.worldSeconds(frame)))
    self.frame = frame
    time = work.timeText(frame)
    nanoseconds = work.recorded(frame)
    edit = plan.rowEdits[frame]
    intrinsics = work.camera.camera(frame)
    let position =
      frame < plan.untrackedRows ? .zero : state.position + plan.damage.shift(frame)
    let q = state.pose?.orientation ?? Quaternion(x: 0, y: 0, z: 0, w: 1)
    // ARKit's own sign, which is often the other one.
    numbers = (position.array + [-q.x, -q.y, -q.z, -q.w]).map { "\(Float($0))" }
  }

  static func columns(_ generation: StrayScannerFamily) -> [String] {
    ["timestamp", "frame", "x", "y", "z", "qx", "qy", "qz", "qw"]
      + (generation.hasIntrinsicsPerFrame
        ? ["fx", "fy", "cx", "cy", "distortion_center_x", "distortion_center_y"] : [])
  }

  /// The cells of the file's row.
  func cells(_ generation: StrayScannerFamily, isSecond: Bool = false) -> [String] {
    var numbers = numbers
    if edit == .notFinite { numbers[1] = "nan" }
    if isSecond { numbers.replaceSubrange(0..<3, with: ["9.0", "9.0", "9.0"]) }
    var cells = [edit == .broken ? "soon" : time, Decimals.padded(frame, 6)] + numbers
    if generation.hasIntrinsicsPerFrame {
      cells += edit == .withoutIntrinsics ? ["", "", "", ""] : Self.texts(intrinsics)
      cells += ["", ""]
    }
    return cells
  }

  /// The row of `poses.csv`; `nil` when a number is not finite.
  var pose: JSONRow? {
    let values = numbers.compactMap { Double($0) }
    guard edit != .notFinite, let nanoseconds, values.count == 7 else { return nil }
    let q = Quaternion(x: values[3], y: values[4], z: values[5], w: values[6])
    return [frame, nanoseconds, values[0], values[1], values[2], q.x, q.y, q.z, q.w]
  }

  /// The camera of this row alone.
  var ownCamera: PinholeCamera? { edit == .withoutIntrinsics ? nil : intrinsics }

  static func texts(_ camera: PinholeCamera) -> [String] {
    camera.parameters.map { "\(Float($0))" }
  }
}

/// The samples of `imu.csv`, as stored and as in a reader's table.
struct StrayMotion {
  struct Sample {
    var time: String
    /// In the unit of the file.
    var acceleration: [String]
    var rotation: [String]
  }

  let plan: StrayPlan
  let samples: [Sample]
  /// Samples that are damaged, if the plan says so.
  private static let brokenSample = 7
  private static let nanSample = 9

  init(_ work: Synthesis<StrayScannerFamily>) {
    plan = work.plan
    var sensors = work.inertialSensors()
    let isRaw = plan.generation.isMotionInGravities
    samples = work.motionTimes.map { uptime in
      let sample = sensors.sample(at: work.worldSeconds(ofUptime: uptime))
      // Before 2025 the app multiplied by 9.81.
      let acceleration = sample.acceleration * (isRaw ? 1 : 9.81)
      let rotation = isRaw ? sample.gyroscope : sample.rotationRate
      return Sample(
        time: "\(uptime)", acceleration: acceleration.array.map { "\($0)" },
        rotation: rotation.array.map { "\($0)" })
    }
  }

  /// The cells of the file's row.
  func cells(_ index: Int, _ sample: Sample) -> [String] {
    var cells = [sample.time] + sample.acceleration + sample.rotation
    if plan.hasBrokenSample, index == Self.brokenSample { cells[4] = "fast" }
    if plan.hasNaNSample, index == Self.nanSample { cells[2] = "nan" }
    return cells
  }

  /// Samples that a reader keeps.
  private var kept: [Sample] {
    guard plan.motion == .present else { return [] }
    return samples.enumerated().filter { index, _ in
      !(plan.hasBrokenSample && index == Self.brokenSample)
        && !(plan.hasNaNSample && index == Self.nanSample)
        && !(plan.cutsLastSample && index == samples.count - 1)
    }.map(\.element)
  }

  /// Time of the first sample that a reader keeps, nanoseconds.
  var firstTime: Int64? {
    kept.first.flatMap { Timestamp(decimalSeconds: $0.time)?.nanoseconds }
  }

  /// The rows of a reader's table: m/s² and rad/s.
  var rows: MotionRows {
    let isRaw = plan.generation.isMotionInGravities
    let scale = isRaw ? InertialSensors.standardGravity : 1
    var rows = MotionRows()
    for sample in kept {
      guard let time = Timestamp(decimalSeconds: sample.time) else { continue }
      rows.add(
        nanoseconds: time.nanoseconds,
        [
          ("accelerometer", Self.vector(sample.acceleration) * scale),
          (isRaw ? "gyroscope" : "rotationRate", Self.vector(sample.rotation)),
        ])
    }
    return rows
  }

  private static func vector(_ texts: [String]) -> Vector3 {
    let numbers = texts.map { Double($0) ?? 0 }
    return Vector3(numbers[0], numbers[1], numbers[2])
  }
}

/// The times of a Stray Scanner capture: device uptime as decimal seconds.
extension Synthesis<StrayScannerFamily> {
  /// Nanoseconds of uptime when the picture of a frame was taken.
  private func taken(_ frame: Int) -> Int64 {
    clock.nanoseconds(of: plan.damage.cameraFrame(frame))
  }

  /// Time of a frame in the scene, seconds.
  func worldSeconds(_ frame: Int) -> Double { worldSeconds(taken(frame)) }

  /// The time that stands in the row of a frame.
  func timeText(_ frame: Int) -> String {
    "\(Double(taken(plan.damage.timedFrame(frame))) / 1e9)"
  }

  /// The time that a reader finds for a frame, nanoseconds.
  func recorded(_ frame: Int) -> Int64? {
    Timestamp(decimalSeconds: timeText(frame))?.nanoseconds
  }

  /// Uptime of all motion samples, seconds.
  fileprivate var motionTimes: [Double] {
    let clock = SampleClock(
      startNanoseconds: taken(0) + Int64(plan.motionDelay * 1e9), rate: 99.8,
      jitterSeconds: 0.000_002, seed: options.seed, "motion")
    // Finer than nanoseconds, as the sensors' own times are.
    return clock.times(through: taken(plan.frames - 1) + 78_000_000).map {
      Double($0) / 1e9 + 0.37e-9
    }
  }

  /// The time of a picture in the video, in 1/600 s: made up by the app, from one nominal frame
  /// before the movie's start.
  func ticks(_ frame: Int) -> Int64 {
    let step = Int64(max(1, (600 / rate).rounded()))
    return plan.video == .encodedAgain ? Int64(frame - 1) * step : Int64(frame) * step - 10
  }
}
