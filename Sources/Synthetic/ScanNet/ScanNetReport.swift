import Core
import Media
import SystemPackage

extension Synthesis<ScanNetFamily> {
  func expected(
    _ expectation: Expectation, _ depthDigests: [Digest?], _ inertial: ScanNetInertialRows
  ) -> JSONObject {
    let hasText = !plan.missingFiles.contains(.text)
    let hasSettings = !plan.missingFiles.contains(.camera) && plan.cameraTag == "v1"
    return [
      "streams": [
        "color": color, "depth": depth(expectation), "confidence": nil, "poses": nil, "geo": nil,
        "imu": imu(inertial),
        "cameraSettings": hasSettings
          ? [
            "file": "\(id).camera", "encoding": "scannet-camera-v1",
            "frames": plan.cameraRecords,
          ] as JSONObject : nil,
      ] as JSONObject,
      "frames": plan.canonicalFrames, "depthSha256": hashes(depthDigests),
      "confidenceSha256": nil,
      "colorFrames": plan.missingFiles.contains(.color)
        ? nil
        : [
          "count": plan.pictures,
          "codedNumbers": options.showsFrameCode
            ? (0..<plan.frames).filter { !plan.lostPictures.contains($0) } : nil,
          "howToRead": FrameCode.howToRead,
        ] as JSONObject,
      "timestampsNs": expectation.times,
      "poses": nil,
      "intrinsics": hasText
        ? [
          "color": rig.color.json,
          "depth": plan.removedKeys.contains("fx_depth") ? nil : rig.depth.json,
        ] : nil,
      "alignment": hasText
        ? [
          "registered": plan.isRegistered, "colorFromDepth": depthFromColor.inverse.rowMajor,
        ] as JSONObject : nil,
      "cameraSettings": hasSettings ? cameraSettings : nil,
      "imu": plan.missingFiles.contains(.inertial)
        ? nil
        : [
          "samples": samples(inertial), "firstRows": inertial.firstRows,
          "lastRows": inertial.lastRows, "frameImuRows": inertial.frameRows(expectation.frames),
        ] as JSONObject,
      "metadata": hasText
        ? [
          "scene.label": plan.sceneLabel, "scene.type": ScanNetFamily.sceneType,
          "device.id": device, "device.name": ScanNetFamily.deviceName,
          "recordedAt": options.id == nil ? moment.date() : nil,
        ] : nil,
      "mustFail": [Int](),
    ]
  }

  private var color: JSONObject? {
    guard !plan.missingFiles.contains(.color) else { return nil }
    return rig.color.stream("\(id).h264", "h264-annexb", frames: plan.pictures)
      .merging(["declaredFrames": plan.claimedColor])
  }

  private func depth(_ expectation: Expectation) -> JSONObject {
    let times = expectation.depth.compactMap { $0 }
    return rig.depth.stream("\(id).depth", "structure-shift11", frames: plan.depthFrames).merging([
      "declaredFrames": plan.claimedDepth, "firstTimestampNs": times.first,
      "lastTimestampNs": times.last,
    ])
  }

  private func samples(_ inertial: ScanNetInertialRows) -> [String: Int] {
    let sensors = ["magnetometer", "userAcceleration", "rotationRate", "gravity", "attitude"]
    return Dictionary(uniqueKeysWithValues: sensors.map { ($0, inertial.samples) })
  }

  private func imu(_ inertial: ScanNetInertialRows) -> JSONObject? {
    guard !plan.missingFiles.contains(.inertial) else { return nil }
    let claimed = plan.claimedDepth.map { _ in inertial.samples + plan.declaredInertialSurplus }
    return [
      "file": "\(id).imu",
      "encoding": plan.hasInertialHead ? "scannet-imu-128-head8" : "scannet-imu-128",
      "declaredFrames": claimed, "samples": samples(inertial),
    ]
  }

  private var cameraSettings: JSONObject {
    [
      "columns": "gain_red,gain_green,gain_blue,exposure_s,iso",
      "rows": (0..<min(plan.cameraRecords, plan.canonicalFrames)).map {
        cameraRecord($0).map { Double($0) }
      },
    ]
  }
}

/// The first and last rows of `imu.csv` that a reader must write, and the number of samples.
struct ScanNetInertialRows {
  private var times: [Int64] = []
  private var earliest: (time: Int64, sample: InertialSample)?
  private var latest: (time: Int64, sample: InertialSample)?

  mutating func add(nanoseconds: Int64, _ sample: InertialSample) {
    times.append(nanoseconds)
    if earliest.map({ nanoseconds < $0.time }) ?? true { earliest = (nanoseconds, sample) }
    if latest.map({ nanoseconds > $0.time }) ?? true { latest = (nanoseconds, sample) }
  }

  var samples: Int { times.count }

  /// Number of data rows of `frame_imu.csv` with a window of ±50 ms.
  func frameRows(_ frames: [Int64?]) -> Int {
    let sorted = times.sorted()
    return frames.compactMap(\.self).reduce(0) { rows, time in
      let first = sorted.partitioningIndex { $0 >= time - 50_000_000 }
      let end = sorted.partitioningIndex { $0 >= time + 50_000_001 }
      return rows + 5 * (end - first)
    }
  }

  var firstRows: [String] { Self.rows(earliest) }
  var lastRows: [String] { Self.rows(latest) }

  private static func rows(_ entry: (time: Int64, sample: InertialSample)?) -> [String] {
    guard let entry else { return [] }
    let (time, sample) = entry
    let g = InertialSensors.standardGravity
    let rows: [(String, Vector3)] = [
      ("magnetometer", sample.magneticField), ("userAcceleration", sample.userAcceleration * g),
      ("rotationRate", sample.rotationRate), ("gravity", sample.gravity * g),
      ("attitude", sample.attitude),
    ]
    return rows.map { name, value in
      "\(time),\(name),\(value.x),\(value.y),\(value.z)"
    }
  }
}

/// The two cameras and the transform between them.
struct ScanNetCameras {
  let color: PinholeCamera
  let depth: PinholeCamera
  let depthMount: CameraMount
  /// The transform as written, with six decimals.
  let depthFromColor: RigidTransform

  /// Full size is 2592x1936; the app's pictures have half of it, and other sizes are scaled from
  /// there.
  init(options: SynthesisOptions, isRegistered: Bool) {
    let width = options.width ?? 1296
    let height = options.height ?? 968
    let depthWidth = options.depthWidth ?? 640
    let depthHeight = options.depthHeight ?? 480
    color =
      PinholeCamera(
        width: 1296, height: 968, fx: 1170.187988, fy: 1170.187988, cx: 647.75, cy: 483.75
      ).scaled(toWidth: width, height: height).roundedToSixDecimals
    depth =
      PinholeCamera(
        width: 640, height: 480, fx: 571.623718, fy: 571.623718, cx: 319.5, cy: 239.5
      ).scaled(toWidth: depthWidth, height: depthHeight).roundedToSixDecimals
    // The color lens is 38 mm beside and 21 mm behind the depth lens, rotated by about a degree.
    let turn =
      Matrix3.aboutX(0.0155) * Matrix3.aboutY(0.0060) * Matrix3.aboutZ(-0.0042)
    let exact =
      isRegistered
      ? RigidTransform.identity
      : RigidTransform(rotation: turn.rowMajor, translation: [-0.038214, -0.003108, -0.021437])
    depthFromColor = RigidTransform(
      rotation: exact.rotation.map { Decimals.round($0, 6) },
      translation: exact.translation.map { Decimals.round($0, 6) })
    let colorFromDepth = exact.inverse
    let r = colorFromDepth.rotation
    depthMount = CameraMount(
      colorFromCamera: Matrix3(
        x: Vector3(r[0], r[3], r[6]), y: Vector3(r[1], r[4], r[7]), z: Vector3(r[2], r[5], r[8])),
      position: Vector3(
        colorFromDepth.translation[0], colorFromDepth.translation[1],
        colorFromDepth.translation[2]))
  }
}
