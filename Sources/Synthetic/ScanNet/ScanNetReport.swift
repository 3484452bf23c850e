import Core
import Media
import SystemPackage

/// Makes the two truth documents of a ScanNet capture.
struct ScanNetReport {
  let id: String
  let plan: ScanNetPlan
  let cameras: ScanNetCameras
  let options: SynthesisOptions
  let rate: Double
  let device: String
  let moment: SeededNames.Moment
  let faults: [SyntheticFault]
  let expectation: ScanNetExpectation
  let depthDigests: [Digest?]
  let inertial: ScanNetInertialRows

  /// What a reader must find.
  var expected: JSONTree {
    let hasText = !plan.missingFiles.contains(.text)
    let hasCamera = !plan.missingFiles.contains(.camera)
    return [
      "description": .text(
        faults.isEmpty ? "no fault" : faults.map(\.summary).joined(separator: "; ")),
      "family": "scannet", "generation": "v1", "id": .text(id),
      "streams": [
        "color": color, "depth": depth, "confidence": nil, "poses": nil, "geo": nil, "imu": imu,
        "cameraSettings": hasCamera && plan.cameraTag == "v1"
          ? [
            "file": .text("\(id).camera"), "encoding": "scannet-camera-v1",
            "frames": JSONTree(plan.cameraRecords),
          ] : nil,
      ],
      "frames": JSONTree(plan.canonicalFrames),
      "depthSha256": JSONTree(
        (0..<plan.canonicalFrames).map { $0 < depthDigests.count ? depthDigests[$0]?.hex : nil }),
      "confidenceSha256": nil,
      "colorFrames": plan.missingFiles.contains(.color)
        ? nil
        : [
          "count": JSONTree(plan.pictures),
          "codedNumbers": options.showsFrameCode
            ? JSONTree((0..<plan.frames).filter { !plan.lostPictures.contains($0) }) : nil,
          "howToRead": .text(FrameCode.howToRead),
        ],
      "timestampsNs": [
        "frame": JSONTree(expectation.frameTimes), "depth": JSONTree(expectation.depthTimes),
        "color": JSONTree(expectation.colorTimes),
      ],
      "poses": nil,
      "intrinsics": hasText
        ? [
          "color": cameras.color.json,
          "depth": plan.removedKeys.contains("fx_depth") ? nil : cameras.depth.json,
        ] : nil,
      "alignment": hasText
        ? [
          "registered": .bool(plan.isRegistered),
          "colorFromDepth": JSONTree(cameras.depthFromColor.inverse.rowMajor),
        ] : nil,
      "cameraSettings": hasCamera && plan.cameraTag == "v1" ? cameraSettings : nil,
      "imu": plan.missingFiles.contains(.inertial)
        ? nil
        : [
          "samples": samples, "firstRows": inertial.firstRows, "lastRows": inertial.lastRows,
          "frameImuRows": JSONTree(expectation.frameInertialRows),
        ],
      "metadata": hasText
        ? [
          "scene.label": .text(plan.sceneLabel), "scene.type": .text(ScanNetText.sceneType),
          "device.id": .text(device), "device.name": .text(ScanNetText.deviceName),
          "recordedAt": options.id == nil ? .text(moment.date()) : nil,
        ] : nil,
      "warnings": expectation.warnings.json, "mustFail": [],
    ]
  }

  /// How the capture was made.
  var truth: JSONTree {
    TruthDocument(
      family: "scannet", generation: "v1", id: id, options: options, faults: faults, rate: rate,
      frames: plan.frames, color: cameras.color, depth: cameras.depth,
      colorFromDepth: RigidTransform(
        rotation: cameras.depthMount.colorFromCamera.rowMajor,
        translation: cameras.depthMount.position.array)
    ).json
  }

  private var color: JSONTree {
    guard !plan.missingFiles.contains(.color) else { return nil }
    return [
      "file": .text("\(id).h264"), "encoding": "h264-annexb",
      "width": JSONTree(cameras.color.width), "height": JSONTree(cameras.color.height),
      "frames": JSONTree(plan.pictures), "declaredFrames": JSONTree(plan.claimedColor),
    ]
  }

  private var depth: JSONTree {
    let times = expectation.depthTimes.compactMap { $0 }
    return [
      "file": .text("\(id).depth"), "encoding": "structure-shift11",
      "width": JSONTree(cameras.depth.width), "height": JSONTree(cameras.depth.height),
      "frames": JSONTree(plan.depthFrames), "declaredFrames": JSONTree(plan.claimedDepth),
      "firstTimestampNs": JSONTree(times.first), "lastTimestampNs": JSONTree(times.last),
    ]
  }

  private var samples: JSONTree {
    let count = JSONTree(inertial.samples)
    return [
      "magnetometer": count, "userAcceleration": count, "rotationRate": count, "gravity": count,
      "attitude": count,
    ]
  }

  private var imu: JSONTree {
    guard !plan.missingFiles.contains(.inertial) else { return nil }
    let claimed = plan.claimedDepth.map { _ in inertial.samples + plan.declaredInertialSurplus }
    return [
      "file": .text("\(id).imu"),
      "encoding": plan.hasInertialHead ? "scannet-imu-128-head8" : "scannet-imu-128",
      "declaredFrames": JSONTree(claimed), "samples": samples,
    ]
  }

  private var cameraSettings: JSONTree {
    [
      "columns": "gain_red,gain_green,gain_blue,exposure_s,iso",
      "rows": .array(
        (0..<min(plan.cameraRecords, plan.canonicalFrames)).map {
          ScanNetCameraRecord(frame: $0, exposureSeconds: options.exposureSeconds).json
        }),
    ]
  }
}

/// The first and last rows of `imu.csv` that a reader must write, and the number of samples.
struct ScanNetInertialRows {
  private(set) var samples = 0
  private var earliest: (time: Int64, sample: InertialSample)?
  private var latest: (time: Int64, sample: InertialSample)?

  mutating func add(nanoseconds: Int64, _ sample: InertialSample) {
    samples += 1
    if earliest.map({ nanoseconds < $0.time }) ?? true { earliest = (nanoseconds, sample) }
    if latest.map({ nanoseconds > $0.time }) ?? true { latest = (nanoseconds, sample) }
  }

  var firstRows: JSONTree { Self.rows(earliest) }
  var lastRows: JSONTree { Self.rows(latest) }

  private static func rows(_ entry: (time: Int64, sample: InertialSample)?) -> JSONTree {
    guard let entry else { return [] }
    let (time, sample) = entry
    let g = InertialSensors.standardGravity
    let rows: [(String, Vector3)] = [
      ("magnetometer", sample.magneticField), ("userAcceleration", sample.userAcceleration * g),
      ("rotationRate", sample.rotationRate), ("gravity", sample.gravity * g),
      ("attitude", sample.attitude),
    ]
    return .array(
      rows.map { name, value in
        .text("\(time),\(name),\(value.x),\(value.y),\(value.z)")
      })
  }
}

/// Synthesizes captures of the ScanNet app: metadata, depth, video, motion sensors, camera
/// settings.
enum ScanNetFamily: SyntheticFamily {
  static let name = "scannet"
  static let generations = ["v1"]
  static let generationsWithMotion = generations
  static let faults = ScanNetFaults.all.map(\.description)
  static let about = "1296x968 color and 640x480 depth, 90 frames at 30 per second"

  static func write(_ options: SynthesisOptions) throws -> SyntheticCapture {
    var plan = ScanNetPlan(frames: options.frames ?? 90)
    let faults = try ScanNetFault.apply(
      options.faults, of: ScanNetFaults.all, to: &plan, form: ((), "v1"), frames: plan.frames,
      leastFrames: 3, family: name)
    let cameras = try ScanNetCameras(options: options, isRegistered: plan.isRegistered)
    if plan.missingFiles.contains(.text), (cameras.depth.width, cameras.depth.height) != (640, 480)
    {
      throw SynthesisError("without metadata depth can only be 640x480")
    }
    let moment = SeededNames.moment(seed: options.seed)
    let device = SeededNames.uuid(seed: options.seed, "device")
    let id = options.id ?? "\(moment.date())_\(moment.time())__\(device)"
    let folder = try CaptureFolder(output: options.output, id: id, mayReplace: options.mayReplace)
    do {
      let writer = try ScanNetWriter(
        id: id, plan: plan, cameras: cameras, options: options, folder: folder)
      let warnings = try writer.write(
        device: device, moment: moment, faults: faults)
      let places = try folder.publish()
      return SyntheticCapture(
        id: id, family: name, generation: "v1", folder: places.capture, truth: places.truth,
        frames: plan.canonicalFrames, warnings: warnings)
    } catch {
      folder.discard()
      throw error
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
  init(options: SynthesisOptions, isRegistered: Bool) throws {
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
