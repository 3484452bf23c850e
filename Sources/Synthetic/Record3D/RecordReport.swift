import Core

/// Makes the two truth documents of a Record3D recording.
struct RecordReport {
  let id: String
  let plan: RecordPlan
  let options: SynthesisOptions
  let rig: Rig
  let rate: Double
  let faults: [SyntheticFault]
  let expectation: RecordExpectation
  let depthDigests: [Digest?]
  let confidenceDigests: [Digest?]
  let facts: [RecordFacts]

  var expected: JSONTree {
    let pictures = (0..<plan.frames).filter(plan.hasColor)
    let hasPoses = plan.isDescribed && plan.tracking == .present
    return [
      "description": .text(
        faults.isEmpty ? "no fault" : faults.map(\.summary).joined(separator: "; ")),
      "family": "record3d", "generation": .text(plan.form.rawValue), "id": .text(id),
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
      "poses": .array(hasPoses ? facts.compactMap(\.poseRow) : []),
      "intrinsics": .array(intrinsics), "imu": nil, "cameraSettings": [], "geo": [],
      "warnings": expectation.warnings.json, "mustFail": [], "mayFail": [], "exitCode": 0,
    ]
  }

  var truth: JSONTree {
    TruthDocument(
      family: "record3d", generation: plan.form.rawValue, id: id, options: options,
      faults: faults, rate: rate, frames: plan.frames, color: rig.color, depth: rig.depth,
      colorFromDepth: .identity
    ).json
  }

  private var intrinsics: [JSONTree] {
    guard plan.isDescribed, plan.intrinsics != .absent else { return [] }
    return facts.map { own in
      let shown = plan.intrinsics == .ofFrames ? own : facts[0]
      return .array(
        [JSONTree(own.frame), JSONTree(rig.color.width), JSONTree(rig.color.height)]
          + shown.intrinsics.map { JSONTree.number($0) })
    }
  }

  private func stream(
    _ files: PictureFilesPlan, _ encoding: String, _ camera: PinholeCamera
  ) -> JSONTree {
    guard let count = files.fileCount(frames: 0..<plan.frames) else { return nil }
    return [
      "encoding": .text(encoding), "width": JSONTree(camera.width),
      "height": JSONTree(camera.height), "frames": JSONTree(count),
    ]
  }

  private var color: JSONTree { stream(plan.color, "jpeg", rig.color) }

  private var depth: JSONTree {
    let encoding = plan.form == .exr ? "exr-f16" : plan.isRaw ? "raw-f32" : "lzfse-f32"
    return stream(plan.depth, encoding, rig.depth)
  }

  private var confidence: JSONTree {
    stream(plan.confidence, plan.isRaw ? "raw-u8" : "lzfse-u8", rig.depth)
  }
}
