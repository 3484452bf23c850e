import Core

/// Makes the two truth documents of a Stray Scanner capture.
struct StrayReport {
  let id: String
  let plan: StrayPlan
  let options: SynthesisOptions
  let rig: Rig
  let rate: Double
  let faults: [SyntheticFault]
  let expectation: StrayExpectation
  let depthDigests: [Digest?]
  let confidenceDigests: [Digest?]
  let rows: [StrayRow]
  let motion: StrayMotion
  /// The camera of the last frame, which `camera_matrix.csv` holds.
  let matrix: PinholeCamera
  let colorEncoding: String

  var expected: JSONTree {
    let frames = plan.canonicalFrames
    let isColorUnreadable = plan.video == .withoutIndex
    var failing: [JSONTree] = []
    if isColorUnreadable { failing.append("color") }
    if plan.odometry == .withoutColumn { failing.append("tables") }
    // Samples cannot be assigned to frames without times.
    if plan.motion == .withoutColumn || plan.odometry == .withoutColumn { failing.append("imu") }
    let mayFail: [JSONTree] = isColorUnreadable ? ["aligned"] : []
    return [
      "description": .text(
        faults.isEmpty ? "no fault" : faults.map(\.summary).joined(separator: "; ")),
      "family": "stray-scanner", "generation": .text(foundGeneration.rawValue), "id": .text(id),
      "frames": JSONTree(frames),
      "streams": ["color": color, "depth": depth, "confidence": confidence],
      "depthSha256": digests(depthDigests), "confidenceSha256": digests(confidenceDigests),
      "colorFrames": JSONTree(plan.readablePictures.count),
      "colorCode": .text(FrameCode.howToRead),
      "colorIndex": options.showsFrameCode
        ? JSONTree((0..<frames).map { plan.readablePictures.contains($0) ? Int64($0) : nil })
        : nil,
      "timestampsNs": [
        "frame": JSONTree(expectation.frameTimes), "color": JSONTree(expectation.colorTimes),
        "depth": JSONTree(expectation.depthTimes),
      ],
      "poses": .array(keptRows.compactMap(\.pose)), "intrinsics": .array(intrinsics),
      "imu": motion.rows.json, "cameraSettings": [], "geo": [],
      "warnings": expectation.warnings.json, "mustFail": .array(failing),
      "mayFail": .array(mayFail), "exitCode": failing.isEmpty ? 0 : 1,
    ]
  }

  var truth: JSONTree {
    TruthDocument(
      family: "stray-scanner", generation: plan.generation.rawValue, id: id, options: options,
      faults: faults, rate: rate, frames: plan.frames, color: rig.color, depth: rig.depth,
      colorFromDepth: .identity
    ).json
  }

  /// The generation by the signs that are left.
  private var foundGeneration: StrayGeneration {
    if plan.generation == .perFrameIntrinsics {
      guard plan.odometry == .absent else { return .perFrameIntrinsics }
      return plan.motion == .present ? .rawIMU : .png
    }
    if plan.generation == .npy { return plan.depth.isAbsent ? .png : .npy }
    return plan.motion == .present ? plan.generation : .png
  }

  private var keptRows: [StrayRow] {
    let kept = Set(plan.rows)
    return rows.filter { kept.contains($0.frame) }
  }

  private var intrinsics: [JSONTree] {
    let isSized = !plan.readablePictures.isEmpty
    return keptRows.compactMap { row in
      let own = plan.generation.hasIntrinsicsPerFrame ? row.ownIntrinsics : nil
      guard let values = own ?? (plan.hasMatrix ? StrayRow.values(matrix) : nil) else {
        return nil
      }
      return .array(
        [
          JSONTree(row.frame), isSized ? JSONTree(rig.color.width) : nil,
          isSized ? JSONTree(rig.color.height) : nil,
        ] + values.map { JSONTree.number($0) })
    }
  }

  private func digests(_ values: [Digest?]) -> JSONTree {
    JSONTree((0..<plan.canonicalFrames).map { values.indices.contains($0) ? values[$0]?.hex : nil })
  }

  private var color: JSONTree {
    guard !plan.readablePictures.isEmpty else { return nil }
    return [
      "file": "rgb.mp4", "encoding": .text(colorEncoding), "width": JSONTree(rig.color.width),
      "height": JSONTree(rig.color.height), "frames": JSONTree(plan.readablePictures.count),
    ]
  }

  private var depth: JSONTree {
    guard let files = plan.depth.fileCount(frames: 0..<plan.frames) else { return nil }
    return [
      "encoding": plan.doubledFrame == nil ? .text(plan.generation.depthEncoding) : nil,
      "width": JSONTree(rig.depth.width), "height": JSONTree(rig.depth.height),
      "frames": JSONTree(files),
    ]
  }

  private var confidence: JSONTree {
    guard let files = plan.confidence.fileCount(frames: 0..<plan.frames) else { return nil }
    return [
      "encoding": "png-u8", "width": JSONTree(rig.depth.width),
      "height": JSONTree(rig.depth.height), "frames": JSONTree(files),
    ]
  }
}
