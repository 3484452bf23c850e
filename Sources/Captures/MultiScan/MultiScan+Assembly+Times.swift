import Codecs
import Geometry

extension MultiScan.Contents {
  /// The earliest time in any motion file.
  var earliestMotion: Timestamp? {
    motion.values.lazy.compactMap { $0.value?.records.lazy.map(\.timestamp).min() }.min()
  }
}

extension MultiScan.Assembly {
  /// Where the pictures begin among the frames: rows are lines, or else depth frames, which are paired with pictures
  /// by index.
  static func start(
    _ contents: MultiScan.Contents, pairing: MultiScan.FramePairing
  ) -> HiddenStart {
    let lines = contents.linesInUse?.lines.prefix(pairing.lines).map { $0?.timestamp } ?? []
    return HiddenStart(
      contents.color.value?.track.hidden ?? HiddenPictures(),
      pictures: contents.color.value?.pictures ?? 0,
      times: lines.isEmpty
        ? [Timestamp?](repeating: nil, count: pairing.depthFrames) : Array(lines))
  }

  /// The canonical frames. With camera info, a frame's time is its line's; without, the picture's place
  /// in the video counted from the start of the motion files, or the presentation time itself.
  static func frames(
    _ contents: MultiScan.Contents, pairing: MultiScan.FramePairing, firstPicture: Int
  ) -> [CaptureFrame] {
    let video = contents.color.value
    let pictures = firstPicture..<firstPicture + (video?.pictures ?? 0)
    let times =
      contents.generation.writesCameraInfo
      ? (contents.linesInUse?.lines.prefix(pairing.lines).map { $0?.timestamp } ?? [])
      : [Timestamp?](repeating: nil, count: firstPicture)
        + (video?.times(
          startingAt: contents.earliestMotion.map {
            firstPicture > 0
              ? $0.advanced(byNanoseconds: video?.track.hidden.nanoseconds ?? 0) : $0
          }) ?? [])
    let depth = pairing.firstDepthFrame..<pairing.firstDepthFrame + pairing.depthFrames
    return (0..<pairing.canonicalFrames(pictures: pictures.upperBound)).map { index in
      let time = index < times.count ? times[index] : nil
      return CaptureFrame(
        timestamp: time, colorTimestamp: pictures.contains(index) ? time : nil,
        depthTimestamp: depth.contains(index) ? time : nil)
    }
  }

  /// Gaps and disorder of the canonical times, and poses that move faster than anyone walks.
  func warnOfTimes() {
    let steps = MultiScan.stepsBetweenNeighbors(frames.map(\.timestamp))
    warnings.add(
      .frameGap, "frames", count: steps.gaps(above: MultiScanReader.description.frameGapFactor),
      of: .size(frames.count),
      "steps longer than \(MultiScanReader.description.frameGapFactor) times the median step")
    warnings.add(
      .timestampsUnordered, "frames",
      // Times that are the video's are reported as such.
      count: contents.generation.writesCameraInfo ? steps.backward : 0, of: .size(frames.count),
      "times that go backward; frames stay in the order of the file")
    warnings.add(
      .timestampsDuplicate, "frames", count: steps.repeated, "times equal to the one before")
  }
}
