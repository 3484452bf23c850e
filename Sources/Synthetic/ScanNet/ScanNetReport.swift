import Core

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
