/// Whether a finding is a warning or a note. This type alone decides.
///
/// Phones drop single frames, start the IMU late and deliver samples out of order. What ordinary
/// recordings show, and what is handled without loss, is a note; everything else is a warning.
public enum WarningSeverity: String, Codable, Sendable {
  case note
  case warning

  /// The rule of the contract (section 4). Notes are: `frame-gap` up to 1 % of the frames,
  /// `timestamps-unordered` up to 0.1 % of the samples or pictures, `imu-outside-frames` up to one
  /// second of frames at each end, `unknown-key` and `mixed-orientations`. A count of unknown extent is a warning.
  init(_ code: WarningCode, count: Int, of extent: WarningExtent) {
    let isNote =
      switch (code, extent) {
      case (.unknownKey, _), (.mixedOrientations, _): true
      case (.frameGap, .size(let frames)): count <= frames / 100
      case (.timestampsUnordered, .size(let samples)): count <= samples / 1000
      case (.imuOutsideFrames, .ends(let outside)): outside.isBrief
      default: false
      }
    self = isNote ? .note : .warning
  }
}

/// The total to which a finding's count relates.
public enum WarningExtent: Hashable, Sendable {
  case unknown
  /// All frames, samples or pictures of the stream concerned.
  case size(Int)
  /// Frames without samples, at each end separately.
  case ends(FramesOutside)

  /// The extent of two findings about one stream.
  func joined(with other: WarningExtent) -> WarningExtent {
    switch (self, other) {
    case (.size(let a), .size(let b)): .size(max(a, b))
    case (.ends(let a), .ends(let b)): .ends(a.joined(with: b))
    // If one of the two was not measured, the extent is unknown.
    default: .unknown
    }
  }
}

/// Frames before the first or after the last sample of a sensor.
public struct FramesOutside: Hashable, Sendable {
  public var before = 0
  var after = 0
  /// Number of frames with a time.
  public let frames: Int
  /// Frames per second by the median step; `nil` if unknown.
  let rateHz: Double?

  public var count: Int { before + after }

  /// Whether at most one second of frames is outside at each end, and some frame is inside.
  var isBrief: Bool {
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
