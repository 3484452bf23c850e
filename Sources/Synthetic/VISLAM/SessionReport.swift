import Core

/// Makes the two truth documents of a VI-SLAM session.
struct SessionReport {
  let id: String
  let plan: SessionPlan
  let options: SynthesisOptions
  let rig: Rig
  let rate: Double
  let faults: [SyntheticFault]
  let expectation: SessionExpectation
  let tables: SessionTables
  let present: [Int]

  var expected: JSONTree {
    let frames = expectation.frameTimes.count
    let codes = plan.hasFrameTable ? Array(0..<plan.frames) : kept
    return [
      "description": .text(
        faults.isEmpty ? "no fault" : faults.map(\.summary).joined(separator: "; ")),
      "family": "vi-slam", "generation": .text(plan.form.generation), "id": .text(id),
      "frames": JSONTree(frames),
      "streams": [
        "frames": JSONTree(frames),
        "color": plan.hasVideo
          ? [
            "frames": JSONTree(plan.pictures), "width": JSONTree(rig.color.width),
            "height": JSONTree(rig.color.height),
            "encoding": plan.form == .androidWide ? "png" : "h264",
          ] : nil,
        "imu": ["samples": samples],
      ],
      "depthSha256": [], "confidenceSha256": [], "colorFrames": JSONTree(plan.pictures),
      "colorFrameCode": options.showsFrameCode
        ? .array(codes.map { hasPicture($0) ? JSONTree($0) : nil }) : nil,
      "howToReadFrameCode": .text(FrameCode.howToRead),
      "timestampsNs": [
        "frames": JSONTree(expectation.frameTimes), "color": JSONTree(expectation.colorTimes),
      ],
      "exposureS": .array(exposures.map { $0.seconds > 0 ? .number($0.seconds) : nil }),
      "iso": .array(exposures.map { $0.iso > 0 ? .number(Double($0.iso)) : nil }),
      "poses": [], "intrinsics": nil, "imu": imu, "warnings": expectation.warnings.json,
      "mustFail": plan.lacksZ && plan.hasInertialTable ? ["imu"] : [],
    ]
  }

  var truth: JSONTree {
    TruthDocument(
      family: "vi-slam", generation: plan.form.rawValue, id: id, options: options,
      faults: faults, rate: rate, frames: plan.frames, color: rig.color, depth: nil,
      colorFromDepth: nil
    ).json
  }

  private var kept: [Int] { (0..<plan.frames).filter { !plan.lostPictures.contains($0) } }

  private func hasPicture(_ frame: Int) -> Bool {
    plan.hasVideo && !plan.lostPictures.contains(frame)
  }

  private var exposures: [(seconds: Double, iso: Int)] {
    guard plan.hasFrameTable, plan.form != .androidWide else {
      return expectation.frameTimes.map { _ in (0, 0) }
    }
    return (0..<plan.frames).map(tables.exposure)
  }

  private var samples: JSONTree {
    guard !expectation.rows.isEmpty else { return [:] }
    var counts: [String: JSONTree] = [:]
    for type in present {
      counts[SessionSamples.types[type]] = JSONTree(expectation.times(of: type).count)
    }
    if plan.unknownRows > 0 { counts["barometer"] = JSONTree(plan.unknownRows) }
    return .object(counts)
  }

  private var imu: JSONTree {
    var perFrame: [String: JSONTree] = [:]
    if plan.hasFrameTable, !expectation.rows.isEmpty {
      for type in present {
        let times = expectation.times(of: type)
        perFrame[SessionSamples.types[type]] = JSONTree(
          expectation.frameTimes.map { time -> Int64? in
            guard let time else { return nil }
            let first = times.firstIndex(notBelow: time - 50_000_000)
            return Int64(times.firstIndex(notBelow: time + 50_000_001) - first)
          })
      }
    }
    return [
      "samples": samples, "first": row(expectation.rows.first), "last": row(expectation.rows.last),
      "windowNs": 50_000_000, "samplesPerFrame": .object(perFrame),
    ]
  }

  private func row(_ sample: SessionSample?) -> JSONTree {
    guard let sample else { return nil }
    return [
      .integer(sample.nanoseconds), .text(SessionSamples.types[sample.type]),
      .number(sample.value.x), .number(sample.value.y), .number(sample.value.z),
    ]
  }
}
