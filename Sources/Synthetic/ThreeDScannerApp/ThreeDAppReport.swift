import Core

/// Makes the two truth documents of an export of 3D Scanner App.
struct ThreeDAppReport {
  let id: String
  let plan: ThreeDAppPlan
  let options: SynthesisOptions
  let rig: Rig
  let rate: Double
  let faults: [SyntheticFault]
  let expectation: ThreeDAppExpectation
  let depthDigests: [Digest?]
  let confidenceDigests: [Digest?]
  let files: [ThreeDAppFrameFile]

  var expected: JSONTree {
    let read = files.filter { plan.isRead($0.frame) }
    let pictures = (0..<plan.frames).filter(plan.hasColor)
    let size = pictures.isEmpty ? nil : (width: rig.color.width, height: rig.color.height)
    return [
      "description": .text(
        faults.isEmpty ? "no fault" : faults.map(\.summary).joined(separator: "; ")),
      "family": "3d-scanner-app", "generation": .text(plan.generation.rawValue), "id": .text(id),
      "frames": JSONTree(plan.frames),
      "streams": ["color": color, "depth": depth, "confidence": confidence],
      "depthSha256": JSONTree(depthDigests.map { $0?.hex }),
      "confidenceSha256": JSONTree(confidenceDigests.map { $0?.hex }),
      "colorFrames": JSONTree(pictures.count), "colorCode": .text(FrameCode.howToRead),
      "colorIndex": options.showsFrameCode
        ? JSONTree((0..<plan.frames).map { plan.hasColor($0) ? Int64($0) : nil }) : nil,
      "timestampsNs": [
        "frame": JSONTree(expectation.frameTimes), "color": JSONTree(expectation.colorTimes),
        "depth": JSONTree(expectation.depthTimes),
      ],
      "poses": .array(read.compactMap(\.poseRow)),
      "intrinsics": .array(read.map { $0.intrinsicsRow(size: size) }),
      "imu": nil, "cameraSettings": .array(read.map(\.settingsRow)), "geo": .array(geo(read)),
      "warnings": expectation.warnings.json, "mustFail": [], "mayFail": [], "exitCode": 0,
    ]
  }

  var truth: JSONTree {
    TruthDocument(
      family: "3d-scanner-app", generation: plan.generation.rawValue, id: id, options: options,
      faults: faults, rate: rate, frames: plan.frames, color: rig.color,
      depth: plan.generation.hasDepth ? rig.depth : nil,
      colorFromDepth: plan.generation.hasDepth ? .identity : nil
    ).json
  }

  private func geo(_ read: [ThreeDAppFrameFile]) -> [JSONTree] {
    if plan.position == .ofFrames { return read.compactMap(\.geoRow) }
    guard plan.position == .ofScan, plan.hasInfo else { return [] }
    return [
      [
        0, JSONTree(expectation.frameTimes.first ?? nil), .number(ThreeDAppFrameFile.latitude),
        .number(ThreeDAppFrameFile.longitude), nil, nil, "measured",
      ]
    ]
  }

  private var color: JSONTree {
    guard let count = plan.color.fileCount(frames: plan.colorFrames), count > 0 else { return nil }
    return [
      "encoding": "jpeg", "width": JSONTree(rig.color.width), "height": JSONTree(rig.color.height),
      "frames": JSONTree(count),
    ]
  }

  private var depth: JSONTree { gray(plan.depth, "png-u16") }

  private var confidence: JSONTree { gray(plan.confidence, "png-u8") }

  private func gray(_ files: PictureFilesPlan, _ encoding: String) -> JSONTree {
    guard let count = files.fileCount(frames: 0..<plan.frames) else { return nil }
    return [
      "encoding": .text(encoding), "width": JSONTree(rig.depth.width),
      "height": JSONTree(rig.depth.height), "frames": JSONTree(count),
    ]
  }
}
