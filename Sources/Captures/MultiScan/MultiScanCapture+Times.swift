import Media
import Core

extension MultiScanCapture {
  /// Warns of gaps and disorder of the canonical times, and of poses that move faster than a
  /// person.
  func warnOfTimes() {
    let steps = TimeSteps(ofNeighbors: frames.frames.map(\.timestamp))
    warnings.add(
      .frameGap, "frames", count: steps.gaps(above: MultiScanReader.description.frameGapFactor),
      of: .size(frames.frames.count),
      "steps longer than \(MultiScanReader.description.frameGapFactor) times the median step")
    warnings.add(
      .timestampsUnordered, "frames",
      // Times that are the video's are reported with the video.
      count: contents.generation.writesCameraInfo ? steps.backward : 0,
      of: .size(frames.frames.count),
      "times that go backward; frames stay in the order of the file")
    warnings.add(
      .timestampsDuplicate, "frames", count: steps.repeated, "times equal to the one before")
  }
}
