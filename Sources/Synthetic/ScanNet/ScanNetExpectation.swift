import Core
import Media
import SystemPackage

/// What a reader must find in a ScanNet capture, computed from the plan by the rules of the format.
extension Synthesis<ScanNetFamily> {
  /// - Parameter inertialTimes: of the samples that a reader finds, in file order.
  func expectation(_ inertialTimes: [Int64]) -> Expectation {
    var expectation = Expectation(warnings: WarningTally(namesSubjects: false))
    let entries = plan.readableEntries
    let depth = (0..<entries.depth).map(recordedDepth)
    let color = (0..<entries.color).map(recordedColor)
    func nanoseconds(_ seconds: [Double]) -> [Int64?] {
      (0..<plan.canonicalFrames).map {
        $0 >= seconds.count || seconds[$0] == 0
          ? nil : Timestamp(exactSeconds: seconds[$0])?.nanoseconds
      }
    }
    expectation.depth = nanoseconds(depth)
    expectation.color = nanoseconds(color)
    expectation.frames = expectation.depth
    plan.countTimes(
      &expectation, inertialTimes, notFinite: (depth + color).count { !$0.isFinite })
    plan.countDepth(&expectation.warnings)
    plan.countColor(&expectation.warnings)
    plan.countSensors(&expectation.warnings, inertialTimes)
    plan.countFiles(&expectation.warnings)
    return expectation
  }
}

extension ScanNetPlan {
  /// Number of readable depth and color times of whole frames.
  fileprivate var readableEntries: (depth: Int, color: Int) {
    var depth = timeBlocks > 0 ? timeEntries : 0
    var color = timeBlocks > 1 ? timeEntries : 0
    if let kept = timeBytesKept {
      depth = min(timeEntries, kept / 8)
      color = kept / 8 - depth
    }
    return (min(depth, depthFrames), min(color, depthFrames))
  }

  fileprivate func countTimes(
    _ expectation: inout Expectation, _ inertialTimes: [Int64], notFinite: Int
  ) {
    let (depth, color) = (expectation.depth, expectation.color)
    let known = depth.compactMap(\.self)
    if let first = inertialTimes.min() {
      let stale = known.count { $0 < first - 1_000_000_000 }
      if stale > 0 {
        expectation.warnings.add("timestamps-stale", stale)
        expectation.frames = depth.map { _ in nil }
        return
      }
    }
    expectation.warnings.add("non-finite-value", notFinite)
    let frames = timeBlocks == 0 ? canonicalFrames : depthFrames
    expectation.warnings.add(
      "timestamps-missing", (0..<frames).count { depth[$0] == nil || color[$0] == nil })
    expectation.warnings.addSteps(depth)
    if let last = inertialTimes.max() {
      expectation.warnings.add("imu-outside-frames", known.count { $0 > last + 1_000_000_000 })
    }
  }

  fileprivate func countDepth(_ warnings: inout WarningTally) {
    warnings.add("corrupt-record", damagedPayloads.count { $0 < depthFrames })
    warnings.add("truncated-stream", endsInPayload || timeBytesKept != nil)
    warnings.add("trailing-data", trailingBytes > 0)
    if let claimed = claimedDepth {
      warnings.add("frame-count-mismatch", abs(claimed - depthFrames))
    }
  }

  fileprivate func countColor(_ warnings: inout WarningTally) {
    guard hasColor else { return }
    let lacking = depthFrames - pictures
    if lacking > 0 {
      warnings.add("color-shorter-than-depth", lacking)
      if claimedColor != pictures { warnings.add("pairing-approximate", pictures) }
      if let claimed = claimedColor {
        warnings.add("frame-count-mismatch", abs(claimed - pictures))
      }
    }
    warnings.add("depth-shorter-than-color", -lacking)
    warnings.add("size-mismatch", declaredColorScale != 1 && hasText)
  }

  fileprivate func countSensors(_ warnings: inout WarningTally, _ inertialTimes: [Int64]) {
    warnings.add("unsupported-stream", hasCamera && !hasSettings)
    if hasSettings {
      warnings.add("frame-count-mismatch", abs(cameraRecords - depthFrames))
      warnings.add("truncated-stream", cameraTrailingBytes > 0)
    }
    guard hasInertial else { return }
    warnings.add("imu-partial-record", inertialPartialBytes > 0)
    let sorted = inertialTimes.sorted()
    warnings.add("imu-gap", zip(sorted.dropFirst(), sorted).count { $0 - $1 > 250_000_000 })
    warnings.add(
      "timestamps-unordered", zip(inertialTimes.dropFirst(), inertialTimes).count { $0 < $1 })
    if claimedDepth != nil, abs(declaredInertialSurplus) > 1 {
      warnings.add("frame-count-mismatch", abs(declaredInertialSurplus))
    }
  }

  fileprivate func countFiles(_ warnings: inout WarningTally) {
    if hasText {
      warnings.add("missing-key", removedKeys.count + (hasClosingKeys ? 0 : 4))
      warnings.add("unknown-key", addedLines.count)
    }
    warnings.add("missing-file", [hasText, hasColor, hasCamera].count { !$0 })
    warnings.add("imu-missing", !hasInertial)
  }
}

/// The times of all events in a ScanNet capture, in nanoseconds of device uptime, and the recorded
/// times.
extension Synthesis<ScanNetFamily> {
  /// True time of a depth frame.
  func depthTime(_ frame: Int) -> Int64 { clock.nanoseconds(of: frame) + skipped(before: frame) }

  /// True middle of a picture's exposure, about four milliseconds after depth.
  func colorTime(_ frame: Int) -> Int64 {
    let color = SampleClock(
      startNanoseconds: clock.startNanoseconds + 4_050_000, rate: rate, jitterSeconds: 0.0005,
      seed: options.seed, "color")
    return color.nanoseconds(of: frame) + skipped(before: frame)
  }

  /// Times of the IMU samples, in file order: at 60 Hz, from a quarter of a second before to a quarter
  /// of a second after.
  var inertialTimes: [Int64] {
    let base = clock.startNanoseconds
    let lastFrame = depthTime(plan.frames - 1)
    let end =
      plan.inertialEndsEarlySeconds.map { lastFrame - Int64($0 * 1e9) } ?? lastFrame + 250_000_000
    let middle = (base + lastFrame) / 2
    let gap = middle..<(middle + Int64(plan.inertialGapSeconds * 1e9))
    let clock = SampleClock(
      startNanoseconds: base - 250_000_000, rate: 59.7, jitterSeconds: 0.006, seed: options.seed,
      "imu")
    var times = clock.times(through: end).filter { !gap.contains($0) }
    if plan.swapsInertialSamples, times.count > 4 {
      times.swapAt(times.count / 2, times.count / 2 + 1)
    }
    return times
  }

  /// The depth file's time for entry `index` of a block, seconds.
  func recordedDepth(_ index: Int) -> Double {
    guard index < plan.frames else { return garbage }
    switch plan.timeEdits[index] {
    case .notFinite: return .nan
    case .zero: return 0
    case .repeated: return recorded(depthTime(index - 1))
    case .swapped: return recorded(depthTime(index + 1))
    default: return recorded(depthTime(plan.timeEdits[index - 1] == .swapped ? index - 1 : index))
    }
  }

  func recordedColor(_ index: Int) -> Double {
    index < plan.frames ? recorded(colorTime(index)) : garbage
  }

  private func recorded(_ nanoseconds: Int64) -> Double {
    Double(nanoseconds - Int64(plan.staleSeconds * 1e9)) / 1e9
  }

  /// A time of an earlier scan.
  private var garbage: Double { Double(clock.startNanoseconds) / 1e9 - 1234.5 }

  private func skipped(before frame: Int) -> Int64 {
    guard let gap = plan.gap, frame > gap.afterFrame else { return 0 }
    return Int64(Double(gap.frameTimes) * clock.periodNanoseconds)
  }
}

extension Synthesis<ScanNetFamily> {
  func expected(
    _ expectation: Expectation, _ depthDigests: [Digest?], _ samples: MotionSamples
  ) -> JSONObject {
    let sensors = ["magnetometer", "userAcceleration", "rotationRate", "gravity", "attitude"]
    let counts = Dictionary(uniqueKeysWithValues: sensors.map { ($0, samples.count) })
    let sorted = samples.map(\.time).sorted()
    let depthTimes = expectation.depth.compactMap(\.self)
    return [
      "streams": [
        "color": plan.hasColor
          ? rig.color.stream("\(id).h264", "h264-annexb", frames: plan.pictures)
            .merging(["declaredFrames": plan.claimedColor]) : nil,
        "depth": rig.depth.stream("\(id).depth", "structure-shift11", frames: plan.depthFrames)
          .merging([
            "declaredFrames": plan.claimedDepth, "firstTimestampNs": depthTimes.first,
            "lastTimestampNs": depthTimes.last,
          ]),
        "confidence": nil, "poses": nil, "geo": nil,
        "imu": plan.hasInertial
          ? [
            "file": "\(id).imu",
            "encoding": plan.hasInertialHead ? "scannet-imu-128-head8" : "scannet-imu-128",
            "declaredFrames": plan.claimedDepth.map { _ in
              samples.count + plan.declaredInertialSurplus
            },
            "samples": counts,
          ] as JSONObject : nil,
        "cameraSettings": plan.hasSettings
          ? [
            "file": "\(id).camera", "encoding": "scannet-camera-v1",
            "frames": plan.cameraRecords,
          ] as JSONObject : nil,
      ] as JSONObject,
      "frames": plan.canonicalFrames, "depthSha256": hashes(depthDigests),
      "confidenceSha256": nil,
      "colorFrames": plan.hasColor
        ? [
          "count": plan.pictures,
          "codedNumbers": options.showsFrameCode
            ? (0..<plan.frames).filter { !plan.lostPictures.contains($0) } : nil,
          "howToRead": FrameCode.howToRead,
        ] as JSONObject : nil,
      "timestampsNs": expectation.times,
      "poses": nil,
      "intrinsics": plan.hasText
        ? [
          "color": rig.color.json,
          "depth": plan.removedKeys.contains("fx_depth") ? nil : rig.depth.json,
        ] : nil,
      "alignment": plan.hasText
        ? [
          "registered": plan.isRegistered, "colorFromDepth": plan.depthFromColor.inverse.rowMajor,
        ] as JSONObject : nil,
      "cameraSettings": plan.hasSettings
        ? [
          "columns": "gain_red,gain_green,gain_blue,exposure_s,iso",
          "rows": (0..<min(plan.cameraRecords, plan.canonicalFrames)).map {
            cameraRecord($0).map { Double($0) }
          },
        ] as JSONObject : nil,
      "imu": plan.hasInertial
        ? [
          "samples": counts,
          "firstRows": Self.rows(samples.min { $0.time < $1.time }),
          "lastRows": Self.rows(samples.max { $0.time < $1.time }),
          "frameImuRows": expectation.frames.compactMap(\.self).reduce(0) {
            $0 + sensors.count * sorted.countNear($1)
          },
        ] as JSONObject : nil,
      "metadata": plan.hasText
        ? [
          "scene.label": plan.sceneLabel, "scene.type": ScanNetFamily.sceneType,
          "device.id": device, "device.name": ScanNetFamily.deviceName,
          "recordedAt": options.id == nil ? moment.date() : nil,
        ] : nil,
      "mustFail": [Int](),
    ]
  }

  /// The rows of `imu.csv` that a reader must write for a sample.
  private static func rows(_ entry: MotionSamples.Element?) -> [String] {
    guard let (time, sample) = entry else { return [] }
    return sample.rows(time).map {
      "\(time),\($0.sensor),\($0.value.x),\($0.value.y),\($0.value.z)"
    }
  }
}

extension ScanNetFamily {
  /// Full size is 2592x1936; the app's pictures have half of it, and other sizes are scaled from
  /// there.
  static func cameras(_ options: SynthesisOptions) -> (color: PinholeCamera, depth: PinholeCamera) {
    let color = PinholeCamera(
      width: 1296, height: 968, fx: 1170.187988, fy: 1170.187988, cx: 647.75, cy: 483.75)
    let depth = PinholeCamera(
      width: 640, height: 480, fx: 571.623718, fy: 571.623718, cx: 319.5, cy: 239.5)
    return (
      color.scaled(toWidth: options.width ?? 1296, height: options.height ?? 968)
        .roundedToSixDecimals,
      depth.scaled(toWidth: options.depthWidth ?? 640, height: options.depthHeight ?? 480)
        .roundedToSixDecimals
    )
  }
}

extension ScanNetPlan {
  /// The color lens is 38 mm beside and 21 mm behind the depth lens, rotated by about a degree.
  private var exactDepthFromColor: RigidTransform {
    guard !isRegistered else { return .identity }
    let turn =
      Matrix3.aboutX(0.0155) * Matrix3.aboutY(0.0060) * Matrix3.aboutZ(-0.0042)
    return RigidTransform(rotation: turn.rowMajor, translation: [-0.038214, -0.003108, -0.021437])
  }

  /// The transform as written, with six decimals.
  var depthFromColor: RigidTransform {
    let exact = exactDepthFromColor
    return RigidTransform(
      rotation: exact.rotation.map { Decimals.round($0, 6) },
      translation: exact.translation.map { Decimals.round($0, 6) })
  }

  var depthMount: CameraMount {
    let colorFromDepth = exactDepthFromColor.inverse
    let (r, place) = (colorFromDepth.rotation, colorFromDepth.translation)
    return CameraMount(
      colorFromCamera: Matrix3(
        x: Vector3(r[0], r[3], r[6]), y: Vector3(r[1], r[4], r[7]), z: Vector3(r[2], r[5], r[8])),
      position: Vector3(place[0], place[1], place[2]))
  }
}
