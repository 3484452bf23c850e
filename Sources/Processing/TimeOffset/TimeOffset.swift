import Core

/// How far the clock of an IMU is ahead of the times of pictures: time of an IMU sample = time of a
/// picture + offset, as in Kalibr.
public struct TimeOffset: Hashable, Sendable {
  public var nanoseconds: Int64
  /// The ends of the interval that holds the offset with 95 % confidence.
  public var lowNanoseconds: Int64
  public var highNanoseconds: Int64
  /// 0 to 1: how well the two rotations agree at this offset.
  public var correlation: Double
  /// What the two rotations differ by at this offset, root mean square, rad/s.
  public var residual: Double
  /// The frame to frame rotations that were compared, and the seconds that they take.
  public var turns: Int
  public var seconds: Double
  /// Rotations that were left out because they differ far more than the others.
  public var outliers: Int
}

/// Why no offset can be told.
public enum TimeOffsetRefusal: Error, Hashable, CustomStringConvertible {
  /// Frame to frame rotations that the gyroscope covers at every offset, and the seconds that they take.
  case tooShort(turns: Int, seconds: Double)
  /// Root mean square of the slower of the two rotations, degrees per second.
  case tooLittleRotation(degreesPerSecond: Double)
  case noAgreement(correlation: Double)
  /// The best offset is at the end of what was searched.
  case outsideSearch(nanoseconds: Int64)
  /// An offset far outside of what was searched fits better.
  case betterOutside(nanoseconds: Int64)
  /// Another offset fits nearly as well.
  case ambiguous(first: Int64, second: Int64)
  /// A part of the recording, in seconds from the first rotation, has another offset than the rest.
  case changing(part: Int64, seconds: ClosedRange<Double>, rest: Int64)
  case imprecise(halfWidthNanoseconds: Int64)

  public var description: String {
    switch self {
    case .tooShort(let turns, let seconds):
      "too few rotations from frame to frame lie so far inside the samples of the gyroscope, without a gap, that all "
        + "offsets can be tried: \(turns) (\(Self.number(seconds)) s); needed are "
        + "\(TimeOffsetEstimator.leastTurns) and \(Self.number(TimeOffsetEstimator.leastSeconds)) s"
    case .tooLittleRotation(let speed):
      "the camera turns too little: \(Self.number(speed)) degrees per second, root mean square"
    case .noAgreement(let correlation):
      "the rotations of camera and gyroscope agree at no offset (correlation \(Self.number(correlation)))"
    case .outsideSearch(let offset):
      "the best offset is at the end of the search, \(Self.milliseconds(offset))"
    case .betterOutside(let offset):
      "an offset outside of the search fits better, \(Self.milliseconds(offset))"
    case .ambiguous(let first, let second):
      "two offsets fit alike, \(Self.milliseconds(first)) and \(Self.milliseconds(second))"
    case .changing(let part, let seconds, let rest):
      "the offset changes within the recording: it is \(Self.milliseconds(part)) between \(Self.number(seconds.lowerBound)) s "
        + "and \(Self.number(seconds.upperBound)) s, and \(Self.milliseconds(rest)) in the rest"
    case .imprecise(let half):
      "it could be told to ±\(Self.milliseconds(half)) only"
    }
  }

  /// `-12.3 ms`.
  public static func milliseconds(_ nanoseconds: Int64) -> String {
    number(Double(nanoseconds) / 1e6) + " ms"
  }

  /// At most two decimals.
  private static func number(_ value: Double) -> String {
    let rounded = (value * 100).rounded() / 100
    guard rounded.isFinite, abs(rounded) < 1e15 else { return "\(value)" }
    return rounded == rounded.rounded() ? "\(Int64(rounded))" : "\(rounded)"
  }
}

/// What a search for the offset found.
public struct TimeOffsetSearch: Sendable {
  /// How well the rotations agree at one offset.
  public struct Point: Hashable, Sendable {
    public var nanoseconds: Int64
    /// Root mean square of what they differ by, rad/s.
    public var residual: Double
    /// 0 to 1.
    public var correlation: Double
  }

  /// The offset of one block of the recording by itself.
  public struct Block: Hashable, Sendable {
    /// The times of its first and last picture.
    public var start: Timestamp
    public var end: Timestamp
    /// Rotations from frame to frame.
    public var turns: Int
    /// `nil` if the block by itself shows none: it turns too little.
    public var nanoseconds: Int64?
    /// Standard deviation of the offset by what is left of the block's rotations.
    public var deviationNanoseconds: Int64?
  }

  public var result: Result<TimeOffset, TimeOffsetRefusal>
  /// By offset; empty if there was too little to compare.
  public var curve: [Point]
  /// By time; empty likewise.
  public var blocks: [Block]
}
