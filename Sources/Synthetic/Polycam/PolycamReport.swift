import Core

/// Makes the two truth documents of an export of Polycam, by the rules of the format.
struct PolycamReport {
  let id: String
  let plan: PolycamPlan
  let options: SynthesisOptions
  let rig: Rig
  let rate: Double
  let times: PolycamTimes
  let faults: [SyntheticFault]
  let depthDigests: [Digest?]
  let confidenceDigests: [Digest?]
  let files: [PolycamCameraFile]

  var expected: JSONTree {
    let read = files.filter { plan.isRead($0.frame) }
    return [
      "description": .text(
        faults.isEmpty ? "no fault" : faults.map(\.summary).joined(separator: "; ")),
      "family": "polycam", "generation": .text(plan.generation.rawValue), "id": .text(id),
      "frames": JSONTree(plan.frames),
      "streams": [
        "color": stream(plan.color, "jpeg", rig.color),
        "depth": stream(plan.depth, "png-u16", rig.depth),
        "confidence": stream(plan.confidence, "png-u8", rig.depth),
      ],
      "depthSha256": JSONTree(depthDigests.map { $0?.hex }),
      "confidenceSha256": JSONTree(confidenceDigests.map { $0?.hex }),
      "colorFrames": JSONTree((0..<plan.frames).count(where: plan.color.isReadable)),
      "colorCode": .text(FrameCode.howToRead),
      "colorIndex": options.showsFrameCode
        ? JSONTree((0..<plan.frames).map { plan.color.isReadable($0) ? Int64($0) : nil }) : nil,
      // A file's name is its time, whatever is in it.
      "timestampsNs": [
        "frame": JSONTree((0..<plan.frames).map { Int64?.some(times.nanoseconds($0)) }),
        "color": JSONTree(known(plan.color)), "depth": JSONTree(known(plan.depth)),
      ],
      "poses": .array(read.compactMap(\.poseRow)),
      "intrinsics": .array(read.map(\.intrinsicsRow)),
      "imu": nil, "cameraSettings": [], "geo": [], "warnings": warnings.json, "mustFail": [],
      "mayFail": [], "exitCode": 0,
    ]
  }

  var truth: JSONTree {
    TruthDocument(
      family: "polycam", generation: plan.generation.rawValue, id: id, options: options,
      faults: faults, rate: rate, frames: plan.frames, color: rig.color,
      depth: plan.generation.hasDepth ? rig.depth : nil,
      colorFromDepth: plan.generation.hasDepth ? .identity : nil
    ).json
  }

  var warnings: WarningTally {
    var warnings = WarningTally()
    var streams = [("color", plan.color)]
    if plan.generation.hasDepth {
      streams += [("depth", plan.depth), ("confidence", plan.confidence)]
    }
    for (stream, files) in streams {
      files.count(in: &warnings, of: stream)
      guard let count = files.fileCount(frames: 0..<plan.frames) else {
        warnings.add("missing-file", of: stream)
        continue
      }
      warnings.add("frame-count-mismatch", of: stream, abs(count - plan.cameraCount))
    }
    func count(_ kind: PolycamPlan.CameraEdit) -> Int {
      plan.cameras.values.count { $0 == kind }
    }
    warnings.add("empty-record", of: "poses", count(.empty))
    warnings.add("corrupt-record", of: "poses", count(.cut))
    warnings.add("missing-key", of: "poses", count(.withoutPose))
    warnings.add("non-finite-value", of: "poses", count(.notFinite))
    warnings.add("pairing-approximate", of: "frames", count(.otherTime))
    if plan.poseJumpFrame != nil { warnings.add("pose-jump", of: "poses") }
    return warnings
  }

  private func known(_ files: PictureFilesPlan) -> [Int64?] {
    (0..<plan.frames).map { files.isReadable($0) ? times.nanoseconds($0) : nil }
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
}
