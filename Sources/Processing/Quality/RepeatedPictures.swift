/// Finds pictures that repeat the one before, as of a camera that froze, also behind an encoder.
public enum RepeatedPictures {
  /// Repeats differ by at most 0.6 levels (root mean square of the reduced picture) after x264 at constant rate factors
  /// of 12 to 28; neighbors in real movies by 5 and more.
  public static let mostChange = 0.7
  /// A picture changes by this much less than what the capture usually changes by. At rest on a tripod all pictures
  /// change alike, by their noise.
  static let leastRatio = 6.0
  /// Degrees by which poses or the gyroscope show that a camera moved between two pictures: half a pixel of 640.
  static let leastTurn = 0.05

  /// Fills in `duplicateOf` of all frames, with the first of the pictures that are alike. Rotations must be filled in
  /// before. A picture that is exactly as an earlier one repeats it in any case.
  public static func find(_ frames: inout [FrameQuality]) {
    var previous: Int?
    var changes: [(frame: Int, previous: Int, change: Double)] = []
    for index in frames.indices {
      guard let picture = frames[index].picture else { continue }
      if let previous, let before = frames[previous].picture {
        changes.append((index, previous, picture.fingerprint.change(to: before.fingerprint)))
      }
      previous = index
    }
    let sorted = changes.map(\.change).sorted()
    let usual = sorted.isEmpty ? 0 : sorted[sorted.count * 9 / 10]
    var repeated: [Int: Int] = [:]
    for (frame, previous, change) in changes where change <= mostChange {
      let turns = [frames[frame].poseDegrees, frames[frame].gyroscopeDegrees].compactMap(\.self)
      let hasMoved = previous == frame - 1 && turns.contains { $0 >= leastTurn }
      if hasMoved || change * leastRatio <= usual { repeated[frame] = previous }
    }
    var first: [PictureFingerprint: Int] = [:]
    for index in frames.indices {
      guard let picture = frames[index].picture else { continue }
      if let earlier = repeated[index] ?? first[picture.fingerprint] {
        frames[index].duplicateOf = frames[earlier].duplicateOf ?? earlier
      } else {
        first[picture.fingerprint] = index
      }
    }
  }
}
