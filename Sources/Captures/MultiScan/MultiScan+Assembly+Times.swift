import Geometry

extension MultiScan.Contents {
  /// The earliest time in any motion file.
  var earliestMotion: Timestamp? {
    motion.values.lazy.compactMap { $0.value?.records.lazy.map(\.timestamp).min() }.min()
  }
}

extension MultiScan.Assembly {
  /// The canonical frames. With camera info, a frame's time is its line's; without, the picture's place
  /// in the video counted from the start of the motion files, or the presentation time itself.
  static func frames(
    _ contents: MultiScan.Contents, pairing: MultiScan.FramePairing
  ) -> [CaptureFrame] {
    let video = contents.color.value
    let pictures = video?.pictures ?? 0
    let times =
      contents.generation.writesCameraInfo
      ? (contents.linesInUse?.lines.prefix(pairing.lines).map { $0?.timestamp } ?? [])
      : video?.times(startingAt: contents.earliestMotion) ?? []
    let depth = pairing.firstDepthFrame..<pairing.firstDepthFrame + pairing.depthFrames
    return (0..<pairing.canonicalFrames(pictures: pictures)).map { index in
      let time = index < times.count ? times[index] : nil
      return CaptureFrame(
        timestamp: time, colorTimestamp: index < pictures ? time : nil,
        depthTimestamp: depth.contains(index) ? time : nil)
    }
  }

  /// Gaps and disorder of the canonical times, and poses that move faster than anyone walks.
  func warnOfTimes() {
    let steps = MultiScan.stepsBetweenNeighbors(frames.map(\.timestamp))
    warnings.add(
      .frameGap, "frames", count: steps.gaps(above: MultiScan.gapFactor),
      of: .size(frames.count),
      "steps longer than \(MultiScan.gapFactor) times the median step")
    warnings.add(
      .timestampsUnordered, "frames",
      // Times that are the video's are reported as such.
      count: contents.generation.writesCameraInfo ? steps.backward : 0, of: .size(frames.count),
      "times that go backward; frames stay in the order of the file")
    warnings.add(
      .timestampsDuplicate, "frames", count: steps.repeated, "times equal to the one before")
  }
}
