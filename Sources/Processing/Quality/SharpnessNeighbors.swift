import Geometry

/// How many frames around a frame its sharpness is compared with.
public enum SharpnessNeighbors {
  /// Frames on each side: a third of a second at 30 Hz, in which the scene hardly changes.
  public static let eachSide = 5

  /// Fills in `relativeSharpness` of all frames with a picture. Cost: a short sort per frame.
  public static func compare(_ frames: inout [FrameQuality]) {
    let values = frames.map { $0.picture?.sharpness }
    for index in frames.indices {
      guard let own = values[index] else { continue }
      let around = max(0, index - eachSide)...min(frames.count - 1, index + eachSide)
      let median = Median.upper(values[around].compactMap { $0 }) ?? own
      frames[index].relativeSharpness = median > 0 ? own / median : 1
    }
  }
}
