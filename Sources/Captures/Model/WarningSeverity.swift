/// How much a counted finding weighs: decided here and nowhere else.
///
/// Phones drop a frame now and then, start the IMU late and deliver a sample out of turn. What every
/// ordinary recording shows, and what is handled without loss, is a note; everything else is a warning.
public enum WarningSeverity: String, Codable, Sendable {
  case note
  case warning

  /// The contract's rule (section 4): `frame-gap` up to 1 % of the frames, `timestamps-unordered` up to
  /// 0.1 % of the samples or pictures, `imu-outside-frames` up to one second of frames at each end, and
  /// `unknown-key` are notes. A count whose extent is not known is taken for a warning.
  public init(_ code: WarningCode, count: Int, of extent: WarningExtent) {
    let isNote =
      switch (code, extent) {
      case (.unknownKey, _): true
      case (.frameGap, .size(let frames)): count <= frames / 100
      case (.timestampsUnordered, .size(let samples)): count <= samples / 1000
      case (.imuOutsideFrames, .ends(let outside)): outside.isBrief
      default: false
      }
    self = isNote ? .note : .warning
  }
}

/// What a finding's count is measured against.
public enum WarningExtent: Hashable, Sendable {
  case unknown
  /// All frames, samples or pictures of the stream concerned.
  case size(Int)
  /// The frames outside the samples, each end by itself.
  case ends(FramesOutside)

  /// Of two findings about one stream.
  func joined(with other: WarningExtent) -> WarningExtent {
    switch (self, other) {
    case (.size(let a), .size(let b)): .size(max(a, b))
    case (.ends(let a), .ends(let b)): .ends(a.joined(with: b))
    // Measured once and not measured once: not measured.
    default: .unknown
    }
  }
}

/// Frames that lie before the first or after the last sample of a sensor.
public struct FramesOutside: Hashable, Sendable {
  public var before = 0
  public var after = 0
  /// Frames that have a time.
  public let frames: Int
  /// Frames per second by the median step; `nil` where that is not known.
  public let rateHz: Double?

  public init(frames: Int, rateHz: Double?) {
    self.frames = frames
    self.rateHz = rateHz
  }

  public var count: Int { before + after }

  /// Whether at each end at most one second of frames lies outside, and some frame lies inside.
  public var isBrief: Bool {
    guard let rateHz, count < frames else { return false }
    let second = max(1, rateHz.rounded())
    return Double(before) <= second && Double(after) <= second
  }

  func joined(with other: FramesOutside) -> FramesOutside {
    var sum = self
    sum.before += other.before
    sum.after += other.after
    return sum
  }
}
