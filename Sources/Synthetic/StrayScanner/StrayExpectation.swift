import Core

extension StrayPlan {
  /// What a reader must report, by the rules of the format.
  func warnings(_ times: [Int64?], _ firstSample: Int64?) -> WarningTally {
    var warnings = WarningTally()
    depth.countPictures(of: "depth", in: &warnings)
    confidence.countPictures(of: "confidence", in: &warnings)
    countFiles(&warnings)
    countRows(&warnings, times)
    countLengths(&warnings)
    countMotion(&warnings, times, firstSample)
    return warnings
  }

  private func countFiles(_ warnings: inout WarningTally) {
    warnings.add("missing-file", of: "color", video == .absent)
    warnings.add("missing-file", of: "depth", depth.isAbsent)
    warnings.add(
      "missing-file", of: "confidence", confidence.isAbsent && generation.hasConfidence)
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
    default:
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
    let color = readablePictures.isEmpty ? nil : readablePictures.count
    let depth = depth.fileCount(frames: 0..<frames)
    let confidence = confidence.fileCount(frames: 0..<frames)
    let lengths: [(name: String, count: Int?)] = [
      ("color", color), ("depth", depth), ("confidence", confidence),
    ]
    warnings.addLengths(
      lengths,
      expected: odometry == .present
        ? (0..<frames).count(where: hasRow) : lengths.compactMap(\.count).max() ?? 0)
    warnings.addDifference(color: color, depth: depth)
    if video == .encodedAgain, odometry == .present {
      warnings.add("pairing-approximate", of: "color", pictures.count)
    }
  }

  private func countMotion(
    _ warnings: inout WarningTally, _ times: [Int64?], _ firstSample: Int64?
  ) {
    guard motion == .present else {
      return warnings.add("imu-missing", of: "imu", motion != .withoutColumn)
    }
    warnings.add("corrupt-record", of: "imu", hasBrokenSample)
    warnings.add("non-finite-value", of: "imu", hasNaNSample)
    warnings.add("truncated-stream", of: "imu", cutsLastSample)
    guard let firstSample else { return }
    let early = times.compactMap(\.self).count { firstSample - $0 > 250_000_000 }
    warnings.add("imu-outside-frames", of: "imu", early)
  }
}

/// The rows of `odometry.csv`, as stored and as in a reader's tables.
extension Synthesis<StrayScannerFamily> {
  var columns: [String] {
    ["timestamp", "frame", "x", "y", "z", "qx", "qy", "qz", "qw"]
      + (plan.generation.hasIntrinsicsPerFrame
        ? ["fx", "fy", "cx", "cy", "distortion_center_x", "distortion_center_y"] : [])
  }

  /// x, y, z, qx, qy, qz, qw.
  private func numbers(_ frame: Int) -> [String] {
    let state = rig.motion.state(at: worldSeconds(taken(frame)))
    let position =
      frame < plan.untrackedRows ? .zero : state.position + plan.damage.shift(frame)
    let q = state.pose?.orientation ?? Quaternion(x: 0, y: 0, z: 0, w: 1)
    // ARKit's own sign, which is often the other one.
    return (position.array + [-q.x, -q.y, -q.z, -q.w]).map { "\(Float($0))" }
  }

  /// The cells of a frame's row.
  func cells(_ frame: Int, isSecond: Bool = false) -> [String] {
    let edit = plan.rowEdits[frame]
    var numbers = numbers(frame)
    if edit == .notFinite { numbers[1] = "nan" }
    if isSecond { numbers.replaceSubrange(0..<3, with: ["9.0", "9.0", "9.0"]) }
    let time = edit == .broken ? "soon" : timeText(frame)
    var cells = [time, frame.padded(6)] + numbers
    if plan.generation.hasIntrinsicsPerFrame {
      cells += edit == .withoutIntrinsics ? ["", "", "", ""] : Self.texts(camera.camera(frame))
      cells += ["", ""]
    }
    return cells
  }

  /// The row of `poses.csv`; `nil` when a number is not finite.
  func poseRow(_ frame: Int) -> JSONRow? {
    let values = numbers(frame).compactMap { Double($0) }
    guard plan.rowEdits[frame] != .notFinite, let time = recorded(frame), values.count == 7 else {
      return nil
    }
    let q = Quaternion(x: values[3], y: values[4], z: values[5], w: values[6])
    return [frame, time, values[0], values[1], values[2], q.x, q.y, q.z, q.w]
  }

  static func texts(_ camera: PinholeCamera) -> [String] {
    camera.parameters.map { "\(Float($0))" }
  }
}

/// The samples of `imu.csv`, as stored and as in a reader's table.
extension Synthesis<StrayScannerFamily> {
  /// Time, acceleration in the unit of the file, and rotation of each sample.
  var motionCells: [[String]] {
    let clock = SampleClock(
      startNanoseconds: taken(0) + Int64(plan.motionDelay * 1e9), rate: 99.8,
      jitterSeconds: 0.000_002, seed: options.seed, "motion")
    var sensors = inertialSensors()
    let isRaw = plan.generation.isMotionInGravities
    var rows = clock.times(through: taken(plan.frames - 1) + 78_000_000).map { time in
      // Finer than nanoseconds, as the sensors' own times are.
      let uptime = Double(time) / 1e9 + 0.37e-9
      let sample = sensors.sample(at: worldSeconds(ofUptime: uptime))
      // Before 2025 the app multiplied by 9.81.
      let acceleration = sample.acceleration * (isRaw ? 1 : 9.81)
      let rotation = isRaw ? sample.gyroscope : sample.rotationRate
      return ([uptime] + acceleration.array + rotation.array).map { "\($0)" }
    }
    if plan.hasBrokenSample, rows.count > 7 { rows[7][4] = "fast" }
    if plan.hasNaNSample, rows.count > 9 { rows[9][2] = "nan" }
    return rows
  }

  /// The rows of a reader's table.
  func motionRows(_ cells: [[String]]) -> [MotionRow] {
    guard plan.motion == .present else { return [] }
    let isRaw = plan.generation.isMotionInGravities
    let scale = isRaw ? InertialSensors.standardGravity : 1
    return cells.dropLast(plan.cutsLastSample ? 1 : 0).flatMap { cells -> [MotionRow] in
      let numbers = cells.compactMap(Double.init).filter(\.isFinite)
      guard let time = Timestamp(decimalSeconds: cells[0])?.nanoseconds, numbers.count == 7 else {
        return []
      }
      let acceleration = Vector3(numbers[1], numbers[2], numbers[3]) * scale
      let rotation = Vector3(numbers[4], numbers[5], numbers[6])
      return [
        MotionRow(time: time, sensor: .accelerometer, value: acceleration),
        MotionRow(time: time, sensor: isRaw ? .gyroscope : .rotationRate, value: rotation),
      ]
    }
  }
}

/// The times of a Stray Scanner capture: device uptime as decimal seconds.
extension Synthesis<StrayScannerFamily> {
  /// The time that stands in the row of a frame.
  private func timeText(_ frame: Int) -> String {
    "\(Double(taken(plan.damage.timedFrame(frame))) / 1e9)"
  }

  /// The time that a reader finds for a frame, nanoseconds.
  func recorded(_ frame: Int) -> Int64? {
    Timestamp(decimalSeconds: timeText(frame))?.nanoseconds
  }

  /// The time of a picture in the video, in 1/600 s: made up by the app, from one nominal frame
  /// before the movie's start.
  func ticks(_ frame: Int) -> Int64 {
    let step = Int64(max(1, (600 / rate).rounded()))
    return plan.video == .encodedAgain ? Int64(frame - 1) * step : Int64(frame) * step - 10
  }
}
