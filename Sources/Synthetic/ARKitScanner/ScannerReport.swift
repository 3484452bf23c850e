import Core

/// Makes the two truth documents of an ARKit-Scanner capture.
struct ScannerReport {
  let id: String
  let plan: ScannerPlan
  let options: SynthesisOptions
  let rig: Rig
  let rate: Double
  let faults: [SyntheticFault]
  let expectation: ScannerExpectation
  let depthDigests: [Digest?]
  let facts: (Int) -> ScannerFrameFacts
  let motion: [(nanoseconds: Int64, sample: InertialSample)]

  var expected: JSONTree {
    let known = plan.isKilled ? [] : (0..<plan.frames).map(facts)
    let isReleased = plan.generation == .scannetpp
    let poses = known.compactMap { isReleased ? ScannerRelease.poseRow($0) : $0.poseRow }
    return [
      "description": .text(
        faults.isEmpty ? "no fault" : faults.map(\.summary).joined(separator: "; ")),
      "family": "arkit-scanner", "generation": .text(plan.generation.rawValue), "id": .text(id),
      "frames": JSONTree(plan.canonicalFrames),
      "streams": [
        "color": plan.hasVideo
          ? [
            "file": .text(plan.generation.videoFile), "encoding": "h264",
            "width": JSONTree(rig.color.width), "height": JSONTree(rig.color.height),
            "frames": JSONTree(plan.readablePictures),
          ] : nil,
        "depth": [
          "file": .text(plan.generation.depthFile), "encoding": .text(encoding),
          "width": JSONTree(rig.depth.width), "height": JSONTree(rig.depth.height),
          "frames": JSONTree(plan.depthFrames.count),
        ],
        "imu": plan.isKilled || motion.isEmpty ? nil : ["samples": motionRows.counts],
        "poses": plan.isKilled ? nil : ["frames": JSONTree(poses.count)],
      ],
      "depthSha256": JSONTree(
        (0..<plan.canonicalFrames).map { $0 < depthDigests.count ? depthDigests[$0]?.hex : nil }),
      "confidenceSha256": [],
      "colorFrames": JSONTree(plan.readablePictures),
      "colorCode": .text(FrameCode.howToRead),
      "colorIndex": options.showsFrameCode
        ? JSONTree(Array(0..<plan.readablePictures)) : nil,
      "timestampsNs": [
        "frame": JSONTree(expectation.frameTimes), "color": JSONTree(expectation.colorTimes),
        "depth": JSONTree(expectation.depthTimes),
      ],
      "poses": .array(poses),
      "intrinsics": .array(
        known.map {
          .array(
            [JSONTree($0.frame), JSONTree(rig.color.width), JSONTree(rig.color.height)]
              + $0.storedIntrinsics.map { JSONTree.number($0) })
        }),
      "imu": plan.isKilled ? nil : motionRows.json,
      "cameraSettings": .array(known.map(settingsRow)),
      "warnings": expectation.warnings.json,
      "mustFail": plan.isKilled && plan.hasVideo ? ["color"] : [],
      "mayFail": plan.isKilled ? ["aligned"] : [],
      "exitCode": plan.isKilled && plan.hasVideo ? 1 : 0,
    ]
  }

  var truth: JSONTree {
    TruthDocument(
      family: "arkit-scanner", generation: plan.generation.rawValue, id: id, options: options,
      faults: faults, rate: rate, frames: plan.frames, color: rig.color, depth: rig.depth,
      colorFromDepth: .identity
    ).json
  }

  private var encoding: String {
    plan.recordEdits.values.contains(.otherEncoding) ? "mixed" : plan.generation.encoding
  }

  private var motionRows: MotionRows {
    let g = InertialSensors.standardGravity
    var rows = MotionRows()
    for (nanoseconds, sample) in motion {
      var values: [(String, Vector3)] = []
      if plan.generation != .scannetpp { values.append(("magnetometer", .zero)) }
      values.append(("userAcceleration", sample.userAcceleration * g))
      values.append(("rotationRate", sample.rotationRate))
      values.append(("gravity", sample.gravity * g))
      if plan.generation != .scannetpp { values.append(("attitude", sample.attitude)) }
      rows.add(nanoseconds: nanoseconds, values)
    }
    return rows
  }

  private func settingsRow(_ facts: ScannerFrameFacts) -> JSONTree {
    let hasExif = plan.generation.hasExif && !plan.emptyExif.contains(facts.frame)
    return [
      JSONTree(facts.frame), hasExif ? .number(facts.exposureSeconds) : nil,
      hasExif ? JSONTree(facts.iso) : nil,
      plan.generation == .scannetpp ? nil : .number(Double("\(facts.offset)") ?? 0),
    ]
  }
}
