import Media
import Core

/// Makes the two truth documents of a MultiScan capture.
struct MultiScanReport {
  let id: String
  let plan: MultiScanPlan
  let options: SynthesisOptions
  let rig: Rig
  let rate: Double
  let faults: [SyntheticFault]
  let expectation: MultiScanExpectation
  let digests: MultiScanWriter.Digests
  let samples: MultiScanSamples
  let metadata: MultiScanMetadata
  let info: (Int) -> MultiScanCameraInfo
  let constantIntrinsics: PinholeCamera

  var expected: JSONTree {
    let lines = (0..<plan.frames).filter(plan.hasLine).map(info)
    let fails = plan.hasVideo && !plan.hasVideoIndex
    return [
      "description": .text(
        faults.isEmpty ? "no fault" : faults.map(\.summary).joined(separator: "; ")),
      "family": "multiscan", "generation": .text(plan.generation.rawValue),
      "captureId": .text(id), "id": .text(id), "frames": JSONTree(plan.canonicalFrames),
      "streams": [
        "color": color, "depth": depth, "confidence": confidence,
        "imu": plan.generation.hasMotion ? ["samples": samples.rows.counts] : nil,
        "poses": plan.generation.hasCameraInfo ? ["frames": JSONTree(lines.count)] : nil,
      ],
      "depthSha256": hasDepth ? hashes(digests.depth) : [],
      "confidenceSha256": hasConfidence ? hashes(digests.confidence) : [],
      "colorFrames": JSONTree(plan.readablePictures),
      "colorCode": .text(FrameCode.howToRead),
      "colorIndex": options.showsFrameCode
        ? JSONTree(Array(0..<plan.readablePictures)) : nil,
      "timestampsNs": [
        "frame": JSONTree(expectation.frameTimes), "color": JSONTree(expectation.colorTimes),
        "depth": JSONTree(expectation.depthTimes),
      ],
      "poses": .array(lines.compactMap(\.poseRow)),
      "intrinsics": .array(intrinsics(lines)),
      "imu": samples.rows.json,
      "cameraSettings": .array(lines.map(\.settingsRow)),
      "geo": metadata.hasPosition
        ? [
          [
            0, JSONTree(expectation.frameTimes.first ?? nil),
            .number(MultiScanMetadata.latitude), .number(MultiScanMetadata.longitude), nil, nil,
            "measured",
          ]
        ] : [],
      "warnings": expectation.warnings.json,
      "mustFail": fails ? ["color"] : [], "mayFail": fails ? ["aligned"] : [],
      "exitCode": fails ? 1 : 0,
    ]
  }

  var truth: JSONTree {
    TruthDocument(
      family: "multiscan", generation: plan.generation.rawValue, id: id, options: options,
      faults: faults, rate: rate, frames: plan.frames, color: rig.color,
      depth: plan.generation.hasDepth ? rig.depth : nil,
      colorFromDepth: plan.generation.hasDepth ? .identity : nil
    ).json
  }

  private var hasDepth: Bool { plan.generation.hasDepth && plan.hasDepthFile }
  private var hasConfidence: Bool { plan.generation.hasConfidence && plan.hasConfidenceFile }

  /// Size of the upright pictures.
  private var size: (Int, Int) { (rig.color.width, rig.color.height) }

  private func hashes(_ digests: [Digest]) -> JSONTree {
    JSONTree(
      (0..<plan.canonicalFrames).map { frame in
        let record = frame - plan.lateDepth
        return digests.indices.contains(record) ? digests[record].hex : nil
      })
  }

  private func intrinsics(_ lines: [MultiScanCameraInfo]) -> [JSONTree] {
    let isSized = plan.hasMetadata || plan.readablePictures > 0
    if plan.generation.hasCameraInfo {
      return lines.map { $0.intrinsicsRow(size: isSized ? size : nil) }
    }
    guard plan.hasMetadata, plan.generation != .androidPlain else { return [] }
    let camera = constantIntrinsics
    return (0..<plan.canonicalFrames).map {
      [
        JSONTree($0), JSONTree(size.0), JSONTree(size.1), .number(camera.fx), .number(camera.fy),
        .number(camera.cx), .number(camera.cy),
      ]
    }
  }

  private var color: JSONTree {
    guard plan.hasVideo else { return nil }
    return [
      "file": .text(plan.generation == .iosDual ? "\(id)-primary.mp4" : "\(id).mp4"),
      "encoding": "h264", "width": JSONTree(size.0), "height": JSONTree(size.1),
      "frames": JSONTree(plan.readablePictures),
      "declaredFrames": plan.hasMetadata ? JSONTree(plan.frames) : nil,
    ]
  }

  private var depth: JSONTree {
    guard hasDepth else { return nil }
    let element = plan.generation == .androidARCore ? "u16" : "f16"
    return [
      "file": .text("\(id).depth.zlib"),
      "encoding": .text("\(wrapper(plan.depthFormat))-stream-\(element)"),
      "width": JSONTree(rig.depth.width), "height": JSONTree(rig.depth.height),
      "frames": JSONTree(digests.depth.count),
      "declaredFrames": plan.hasMetadata ? JSONTree(plan.frames) : nil,
    ]
  }

  private var confidence: JSONTree {
    guard hasConfidence else { return nil }
    return [
      "file": .text("\(id).confidence.zlib"),
      "encoding": .text("\(wrapper(plan.confidenceFormat))-stream-u8"),
      "width": JSONTree(rig.depth.width), "height": JSONTree(rig.depth.height),
      "frames": JSONTree(digests.confidence.count),
    ]
  }

  private func wrapper(_ format: DeflateFormat) -> String {
    switch format {
    case .raw: "deflate"
    case .zlib: "zlib"
    case .gzip: "gzip"
    }
  }
}
