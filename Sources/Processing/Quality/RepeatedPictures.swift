/// Finds pictures that repeat the one before, as of a camera that froze, also behind an encoder.
public enum RepeatedPictures {
  /// Repeats differ by at most 0.8 levels (root mean square of the reduced picture) after x264 at constant rate factors
  /// of 12 to 28; neighbors in real movies by 5 and more. The fingerprints know it within a quarter.
  static let mostChange = 1.0
  /// A picture changes by this much less than what the capture usually changes by. At rest on a tripod all pictures
  /// change alike, by their noise.
  static let leastRatio = 6.0
  /// Degrees by which poses or the gyroscope show that a camera moved between two pictures: half a pixel of 640.
  static let leastTurn = 0.05
  /// The change of a repeat in parts of the root of the sharpness; a move by half a pixel changes three times as much.
  static let mostChangeOfDetail = 0.1

  /// Fills in `duplicateOf` of all frames, with the first of the pictures that are alike. Rotations must be filled in
  /// before. A picture that is exactly as an earlier one repeats it in any case. Even pictures show nothing that could
  /// be repeated.
  public static func find(_ frames: inout [FrameQuality]) {
    let shown = frames.indices.filter { index in
      frames[index].picture.map { $0.blurWidth != .unknown(.flat) } ?? false
    }
    var changes: [(frame: Int, previous: Int, change: Double)] = []
    for (previous, index) in zip(shown, shown.dropFirst()) {
      guard let before = frames[previous].picture, let picture = frames[index].picture else {
        continue
      }
      changes.append((index, previous, picture.fingerprint.change(to: before.fingerprint)))
    }
    let sorted = changes.map(\.change).sorted()
    let usual = sorted.isEmpty ? 0 : sorted[sorted.count * 9 / 10]
    var repeated: [Int: Int] = [:]
    for (frame, previous, change) in changes where change <= mostChange {
      if change * leastRatio <= usual || hasMoved(frames[frame], since: previous, frame, change) {
        repeated[frame] = previous
      }
    }
    var first: [PictureFingerprint: Int] = [:]
    for index in shown {
      guard let fingerprint = frames[index].picture?.fingerprint else { continue }
      if let earlier = repeated[index] ?? first[fingerprint] {
        frames[index].duplicateOf = frames[earlier].duplicateOf ?? earlier
      } else {
        first[fingerprint] = index
      }
    }
  }

  /// Whether the camera moved since the picture before, which would have changed the picture by more.
  private static func hasMoved(
    _ frame: FrameQuality, since previous: Int, _ index: Int, _ change: Double
  ) -> Bool {
    let turns = [frame.poseDegrees, frame.gyroscopeDegrees].compactMap(\.self)
    guard previous == index - 1, let sharpness = frame.picture?.sharpness,
      turns.contains(where: { $0 >= leastTurn })
    else { return false }
    return change <= mostChangeOfDetail * sharpness.squareRoot()
  }
}
