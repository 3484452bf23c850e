import Core

/// The canonical frames: every number that a pose, a time or a file has.
struct Record3DFrames {
  let frames: [CaptureFrame]
  /// Whether times were recorded; otherwise they follow from the nominal rate, if that is known.
  let hasRecordedTimes: Bool
  /// Number of times that are far from all others.
  let far: Int
  /// Number of frames without time, besides those.
  let untimed: Int

  init(_ tables: Record3DTables) {
    let metadata = tables.object
    let recorded = metadata?.times
    hasRecordedTimes = recorded != nil
    let count = max(
      metadata?.poses?.count ?? 0, recorded?.count ?? 0, tables.numberCount)
    let bounds = TimeBounds((recorded ?? []).compactMap(\.self))
    let times = (0..<count).map { frame -> Timestamp? in
      guard let recorded else { return metadata?.nominalTime(of: frame) }
      return recorded.indices.contains(frame) ? recorded[frame] : nil
    }
    var frames = times.map { time in
      CaptureFrame(timestamp: time.flatMap { bounds.contains($0) || recorded == nil ? $0 : nil })
    }
    for file in tables.files.color.value?.files.files ?? [] {
      frames[file.number].colorTimestamp = frames[file.number].timestamp
    }
    for file in tables.files.depth.value?.files.files ?? [] {
      frames[file.number].depthTimestamp = frames[file.number].timestamp
    }
    self.frames = frames
    untimed = times.count { $0 == nil }
    far = frames.count { $0.timestamp == nil } - untimed
  }
}
