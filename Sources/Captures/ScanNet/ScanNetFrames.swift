import Core

/// The times of the canonical frames, and their problems.
struct ScanNetFrames {
  private(set) var frames: [CaptureFrame]
  /// Steps between neighboring frames that both have a depth time.
  private(set) var depthSteps: TimeSteps
  /// Number of depth times more than a second before the first IMU sample: they belong to an
  /// earlier scan.
  private(set) var staleFrames = 0
  /// Whether so many are stale that no time of this capture is used.
  private(set) var noneIsTrusted = false
  /// Number of frames with a depth or color time far from all others.
  private(set) var farOff = 0

  /// - Parameters:
  ///   - frameCount: number of canonical frames; those after the depth records have no times.
  ///   - imuStart: time of the first IMU sample, if any.
  init(layout: ScanNetDepthLayout, frameCount: Int, imuStart: Timestamp?) {
    frames = (0..<frameCount).map { frame in
      CaptureFrame(
        colorTimestamp: Self.time(frame, of: layout.colorTimes),
        depthTimestamp: Self.time(frame, of: layout.depthTimes))
    }
    depthSteps = TimeSteps([])
    let known = frames.count { $0.depthTimestamp != nil }
    let isStale = frames.map { frame in
      guard let time = frame.depthTimestamp, let imuStart else { return false }
      return time < imuStart.advanced(byNanoseconds: -1_000_000_000)
    }
    staleFrames = isStale.count { $0 }
    noneIsTrusted = staleFrames > known / 2
    if !noneIsTrusted { place(isStale: isStale) }
    for (earlier, later) in zip(frames, frames.dropFirst()) {
      let pair =
        noneIsTrusted
        ? (earlier.depthTimestamp, later.depthTimestamp) : (earlier.timestamp, later.timestamp)
      if case (let earlier?, let later?) = pair {
        depthSteps.nanoseconds.append(later - earlier)
      }
    }
  }

  /// Assigns plausible depth times to their frames.
  private mutating func place(isStale: [Bool]) {
    let fresh = zip(frames, isStale).lazy.filter { !$0.1 }.map(\.0)
    let depthBounds = TimeBounds(fresh.compactMap(\.depthTimestamp))
    let colorBounds = TimeBounds(fresh.compactMap(\.colorTimestamp))
    for index in frames.indices where !isStale[index] {
      let isNear = frames[index].depthTimestamp.map(depthBounds.contains) ?? true
      let isColorNear = frames[index].colorTimestamp.map(colorBounds.contains) ?? true
      if isNear { frames[index].timestamp = frames[index].depthTimestamp }
      if !isNear || !isColorNear { farOff += 1 }
    }
  }

  /// Missing, zero and non-finite seconds are `nil`.
  private static func time(_ frame: Int, of seconds: [Double]) -> Timestamp? {
    guard frame < seconds.count, seconds[frame] != 0 else { return nil }
    return Timestamp(exactSeconds: seconds[frame])
  }

  /// Warns of problems of the times.
  ///
  /// - Parameters:
  ///   - depthFile: its name, for the messages.
  ///   - lastSample: time of the last IMU sample, if any.
  func report(
    layout: ScanNetDepthLayout, depthFile: String, lastSample: Timestamp?,
    into warnings: WarningCollector
  ) {
    warnings.add(
      .timestampsStale, "depth", count: staleFrames,
      "\(depthFile): times of an earlier scan, more than 1 s before the IMU's samples begin; "
        + (noneIsTrusted
          ? "no frame time of this capture can be trusted" : "these frames have no time"))
    if noneIsTrusted { return }
    warnings.add(
      .corruptRecord, "frames", count: farOff,
      "\(depthFile): times more than an hour away from all others; they place no frame")
    // Frames after the last depth record count only if no frame has times: otherwise the short
    // depth stream is reported already.
    let concerned = layout.hasTimes ? frames.prefix(layout.records.count) : frames[...]
    warnings.add(
      .timestampsMissing, "frames",
      count: concerned.count { $0.depthTimestamp == nil || $0.colorTimestamp == nil },
      "\(depthFile): frames without depth or color time")
    let nonFinite = (0..<layout.records.count).count { frame in
      [layout.depthTimes, layout.colorTimes].contains { frame < $0.count && !$0[frame].isFinite }
    }
    warnings.add(
      .nonFiniteValue, "frames", count: nonFinite, "\(depthFile): times that are not finite")
    warnings.addGaps(
      depthSteps, of: frames.count, ScanNetReader.description, "depth",
      cause: "\(depthFile): pairs were dropped while scanning")
    warnings.add(
      .timestampsDuplicate, "depth", count: depthSteps.repeated,
      "\(depthFile): neighboring frames with the same time")
    warnings.add(
      .timestampsUnordered, "depth", count: depthSteps.backward, of: .size(frames.count),
      "\(depthFile): frames earlier than the one before")
    if let lastSample {
      let latest = lastSample.advanced(byNanoseconds: 1_000_000_000)
      let times = frames.compactMap(\.timestamp)
      var outside = FramesOutside(frames: times.count, rateHz: depthSteps.rateHz)
      outside.after = times.count { $0 > latest }
      warnings.add(
        .imuOutsideFrames, "imu", count: outside.count, of: .ends(outside),
        "frames more than 1 s after the last IMU sample")
    }
  }
}
