import Core

/// The metadata of a Record3D recording.
struct RecordMetadata {
  let plan: RecordPlan
  let times: RecordTimes
  let rate: Double
  let color: PinholeCamera
  let depth: PinholeCamera
  let facts: [RecordFacts]

  /// The file's content; `nil` if none is written.
  func bytes() throws -> [UInt8]? {
    guard plan.metadata != .absent else { return nil }
    let text = try members()
    return plan.metadata == .cut ? Array(text.prefix(text.count / 2)) : text
  }

  private func members() throws -> [UInt8] {
    var members: [String: JSONTree] = [
      "w": JSONTree(color.width), "h": JSONTree(color.height), "fps": .number(rate),
      "initPose": JSONTree(RecordFacts.identity), "deviceType": 14,
      "cameraType": plan.tracking == .faceID ? 0 : 1, "poses": .array(facts.map(\.pose)),
    ]
    if plan.statesDepthSize {
      members["dw"] = JSONTree(depth.width)
      members["dh"] = JSONTree(depth.height)
    }
    switch plan.intrinsics {
    case .ofFrames:
      members["K"] = facts.first?.columnMajor
      members["perFrameIntrinsicCoeffs"] = .array(facts.map { JSONTree($0.intrinsics) })
    case .ofRecording: members["K"] = facts.first?.columnMajor
    case .rowMajor: members["K"] = facts.first?.rowMajor
    case .absent: break
    }
    if plan.times != .absent {
      let count = plan.times == .short ? plan.frames - 2 : plan.frames
      members["frameTimestamps"] = .array(
        (0..<count).map { .number(Double(times.text($0)) ?? 0) })
    }
    return try JSONTree.object(members).bytes()
  }
}
