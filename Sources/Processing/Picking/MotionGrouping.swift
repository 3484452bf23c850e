/// Divides the frames of a capture into groups in which the camera hardly moves: a group ends before the
/// first frame that is too far from its first one.
///
/// Of two frames the poses are compared, else the attitudes by the gyroscope, else the pictures. Frames
/// must come in order.
public struct MotionGrouping: Sendable {
  /// What a frame may differ from the first one of its group.
  public struct Limits: Hashable, Sendable {
    var degrees: Double
    var meters: Double
    /// `PictureOutline.change`.
    var levels: Double

    public init(degrees: Double, meters: Double, levels: Double) {
      self.degrees = degrees
      self.meters = meters
      self.levels = levels
    }
  }

  private let motion: FrameMotion
  private let limits: Limits
  /// The first frame of the group.
  private var first: (frame: Int, outline: PictureOutline?)?
  /// How many frames were compared by each means.
  public private(set) var compared: [PickMeans: Int] = [:]

  public init(_ motion: FrameMotion, _ limits: Limits) {
    self.motion = motion
    self.limits = limits
  }

  public enum Step: Hashable, Sendable {
    case stays
    case begins(PickMeans)
    /// The pictures must be compared, and one of them is not given. Nothing is noted.
    case needsPicture
  }

  /// Whether `frame` begins a group.
  ///
  /// - Parameter outline: of its picture; `nil` if it is not at hand.
  public mutating func take(_ frame: Int, _ outline: PictureOutline?) -> Step {
    guard let first else {
      self.first = (frame, outline)
      return .begins(.start)
    }
    let means: PickMeans
    let isFar: Bool
    if let move = motion.move(from: first.frame, to: frame) {
      means = .poses
      isFar = move.degrees > limits.degrees || move.meters > limits.meters
    } else if let degrees = motion.turn(from: first.frame, to: frame) {
      means = .gyroscope
      isFar = degrees > limits.degrees
    } else {
      guard let outline, let before = first.outline else { return .needsPicture }
      means = .pictures
      // Pictures of different sizes show different things.
      isFar = before.change(to: outline).map { $0 > limits.levels } ?? true
    }
    compared[means, default: 0] += 1
    guard isFar else { return .stays }
    self.first = (frame, outline)
    return .begins(means)
  }
}

/// By what a group of frames begins from which one is picked. Raw values are words in tables and records.
public enum PickMeans: String, CaseIterable, Sendable {
  /// The group is the first one.
  case start
  /// The group before is full.
  case count
  /// The camera has moved, by its poses.
  case poses
  /// The camera has turned, by the gyroscope.
  case gyroscope
  /// The picture has changed.
  case pictures
}
