/// What is asked of rotations before a time offset is told from them.
public struct TimeOffsetRule: Hashable, Sendable {
  /// Least root mean square of both rotations, rad/s.
  var leastRotation: Double
  var leastCorrelation: Double
  /// The logarithm of how much likelier an offset must be than any other.
  var leastEvidence: Double
  /// Only what changes within this time is compared, seconds; `nil` for all.
  var window: Double?
  /// Added to the noise of a block's own offset, nanoseconds: interpolation, axes that are not quite right and, in
  /// pictures, the camera's motion, which lasts.
  var leastBlockDeviation: Double

  /// Rotations by poses are those of the camera: about a degree per second is enough.
  public static let poses = TimeOffsetRule(
    leastRotation: 0.02, leastCorrelation: 0.7, leastEvidence: 30, window: nil,
    leastBlockDeviation: 300_000)

  /// Rotations by pictures hold the camera's motion, too, which changes slowly: only what is quick, the tremor of
  /// a hand, is compared.
  public static let pictures = TimeOffsetRule(
    leastRotation: 0.005, leastCorrelation: 0.4, leastEvidence: 15, window: 0.3,
    leastBlockDeviation: 2_000_000)
}
