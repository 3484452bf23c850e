import Geometry

/// The canonical frames' times, and what is wrong with them.
struct ScanNetTimes: Sendable {
  private(set) var frames: [CaptureFrame]
  /// Steps between neighboring frames that both have a depth time.
  private(set) var depthSteps: TimeSteps
  /// Depth times more than a second before the first IMU sample: those of an earlier scan.
  private(set) var staleFrames = 0

  /// - Parameters:
  ///   - frameCount: canonical frames; those behind the depth records have no times.
  ///   - firstSample: of the IMU, if there is one.
  init(layout: ScanNetDepthLayout, frameCount: Int, firstSample: Timestamp?) {
    frames = (0..<frameCount).map { frame in
      CaptureFrame(
        colorTimestamp: Self.time(frame, of: layout.colorTimes),
        depthTimestamp: Self.time(frame, of: layout.depthTimes))
    }
    depthSteps = TimeSteps([])
    for (earlier, later) in zip(frames, frames.dropFirst()) {
      if let earlier = earlier.depthTimestamp, let later = later.depthTimestamp {
        depthSteps.nanoseconds.append(later - earlier)
      }
    }
    if let firstSample {
      let earliest = firstSample.advanced(byNanoseconds: -1_000_000_000)
      staleFrames = frames.count { $0.depthTimestamp.map { $0 < earliest } ?? false }
    }
    // One stale time is enough: none of them can be trusted.
    guard staleFrames == 0 else { return }
    for index in frames.indices { frames[index].timestamp = frames[index].depthTimestamp }
  }

  /// Missing, zero and non-finite seconds are no time.
  private static func time(_ frame: Int, of seconds: [Double]) -> Timestamp? {
    guard frame < seconds.count, seconds[frame] != 0 else { return nil }
    return Timestamp(exactSeconds: seconds[frame])
  }

  /// Reports what the times lack.
  ///
  /// - Parameters:
  ///   - depthFile: its name, for the messages.
  ///   - lastSample: of the IMU, if there is one.
  func report(
    layout: ScanNetDepthLayout, depthFile: String, lastSample: Timestamp?,
    into warnings: WarningCollector
  ) {
    guard staleFrames == 0 else {
      warnings.add(
        .timestampsStale, "depth", count: staleFrames,
        "\(depthFile): times of an earlier scan, more than 1 s before the first IMU sample; "
          + "no frame time of this capture can be trusted")
      return
    }
    // Frames behind the last depth record count only where no frame has times: otherwise the depth
    // stream's being short is the whole story.
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
    warnings.add(
      .frameGap, "depth", count: depthSteps.gaps(above: 1.5), of: .size(frames.count),
      "\(depthFile): steps above 1.5 times the median step; pairs were dropped while scanning")
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
