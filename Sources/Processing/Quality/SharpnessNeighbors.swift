import Core

/// How many frames around a frame its sharpness is compared with.
public enum SharpnessNeighbors {
  /// Frames on each side: a third of a second at 30 Hz, in which the scene hardly changes.
  static let eachSide = 5

  /// Fills in `relativeSharpness` and `hasDetailAround` of all frames with a picture. Cost: a short sort per frame.
  public static func compare(_ frames: inout [FrameQuality]) {
    for index in frames.indices {
      guard let own = frames[index].picture?.sharpness else { continue }
      let around = max(0, index - eachSide)...min(frames.count - 1, index + eachSide)
      let compared = frames[around].compactMap(\.picture)
      let median = Median.upper(compared.map(\.sharpness)) ?? own
      // Noise is what is compared in even pictures, which an encoder changes from picture to picture.
      let told = compared.count { if case .pixels = $0.blurWidth { true } else { false } }
      frames[index].hasDetailAround = 2 * told >= compared.count
      frames[index].relativeSharpness = median > 0 ? own / median : 1
    }
  }
}
