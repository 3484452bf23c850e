import Core

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

/// How far the camera of a capture moved between any two frames, by its poses and by its gyroscope.
///
/// Holds a pose and an attitude per frame.
public struct FrameMotion: Sendable {
  /// An attitude relative to that of the first frame of its part: what lies between two parts the
  /// gyroscope does not know.
  private struct Attitude {
    var part: Int
    var turn: Quaternion
  }

  private let poses: [Int: Pose]
  private let attitudes: [Int: Attitude]

  /// - Parameters:
  ///   - poses: by frame.
  ///   - times: by frame, on the clock of the gyroscope; `nil` = unknown.
  ///
  /// Cost: one pass over the readings of the gyroscope.
  public init(poses: [Int: Pose], times: [Timestamp?], gyroscope: GyroscopeRotation?) {
    self.poses = poses
    var attitudes: [Int: Attitude] = [:]
    var last: (time: Timestamp, attitude: Attitude)?
    var parts = 0
    if let gyroscope {
      for (frame, time) in times.enumerated() {
        guard let time, gyroscope.speed(at: time) != nil else { continue }
        var attitude: Attitude?
        if let last {
          if time == last.time {
            attitude = last.attitude
          } else if let turn = gyroscope.rotation(from: last.time, to: time) {
            attitude = Attitude(part: last.attitude.part, turn: last.attitude.turn.then(turn))
          }
        }
        if attitude?.turn.w.isFinite != true {
          attitude = Attitude(part: parts, turn: Quaternion(x: 0, y: 0, z: 0, w: 1))
          parts += 1
        }
        attitudes[frame] = attitude
        last = attitude.map { (time, $0) }
      }
    }
    self.attitudes = attitudes
  }

  public func hasPose(_ frame: Int) -> Bool { poses[frame] != nil }

  /// Whether any frame has a pose.
  public var hasPoses: Bool { !poses.isEmpty }

  /// Whether the gyroscope covers any frame.
  var hasGyroscope: Bool { !attitudes.isEmpty }

  /// By the poses; `nil` if one of the frames has none.
  func move(from frame: Int, to other: Int) -> (degrees: Double, meters: Double)? {
    guard let a = poses[frame], let b = poses[other] else { return nil }
    let meters = zip(a.position, b.position).reduce(0) { $0 + ($1.0 - $1.1) * ($1.0 - $1.1) }
      .squareRoot()
    let degrees = a.rotationDegrees(to: b)
    return degrees.isFinite && meters.isFinite ? (degrees, meters) : nil
  }

  /// By the gyroscope; `nil` if it does not cover the time between the frames without a gap.
  func turn(from frame: Int, to other: Int) -> Double? {
    guard let a = attitudes[frame], let b = attitudes[other], a.part == b.part else { return nil }
    let between = a.turn.inverse.then(b.turn)
    return quaternionDegrees(w: between.w, SIMD3(between.x, between.y, between.z))
  }
}

/// The frame that was picked of a group.
public struct PickedFrame<Payload: Sendable>: Sendable {
  public var frame: Int
  public var rank: FrameRank
  /// What was given with the frame.
  public var payload: Payload
  /// The first and the last frame of the group that had a picture.
  public var first: Int
  public var last: Int
  /// Number of frames of the group that had a picture.
  public var pictures: Int
  /// By what the group began.
  public var begun: PickMeans

  /// The frame without what was given with it.
  public var withoutPayload: PickedFrame<Void> {
    PickedFrame<Void>(
      frame: frame, rank: rank, payload: (), first: first, last: last, pictures: pictures,
      begun: begun)
  }
}

/// Finds the best frame of each group while frames come in order; of equal ones the earliest.
///
/// Holds one frame, the best of the group so far.
public struct GroupPicker<Payload: Sendable>: Sendable {
  private var best: PickedFrame<Payload>?

  public init() {}

  /// Takes the next frame.
  ///
  /// - Parameters:
  ///   - begun: by what it begins a group; `nil` if it belongs to that of the frame before. The first
  ///     frame always begins one.
  ///   - payload: kept while the frame is the best of its group.
  /// - Returns: the picked frame of the group that is thereby over; `nil` if none is.
  public mutating func take(
    _ frame: Int, begins begun: PickMeans?, _ rank: FrameRank, _ payload: Payload
  ) -> PickedFrame<Payload>? {
    guard begun == nil, var group = best else {
      let over = best
      best = PickedFrame(
        frame: frame, rank: rank, payload: payload, first: frame, last: frame, pictures: 1,
        begun: begun ?? .start)
      return over
    }
    group.last = frame
    group.pictures += 1
    if group.rank < rank { (group.frame, group.rank, group.payload) = (frame, rank, payload) }
    best = group
    return nil
  }

  /// The picked frame of the last group; `nil` after it was returned, or without frames.
  public mutating func finish() -> PickedFrame<Payload>? {
    defer { best = nil }
    return best
  }
}

/// How good a frame is among those of its group.
public struct FrameRank: Comparable, Sendable {
  /// Whether its picture is undamaged and has the size of the others.
  public var isWhole: Bool
  /// Whether it has a pose where frames are grouped by them.
  var isPlaced: Bool
  public var sharpness: Sharpness

  public init(isWhole: Bool, isPlaced: Bool, sharpness: Sharpness) {
    self.isWhole = isWhole
    self.isPlaced = isPlaced
    self.sharpness = sharpness
  }

  public static func < (a: FrameRank, b: FrameRank) -> Bool {
    if a.isWhole != b.isWhole { return b.isWhole }
    if a.isPlaced != b.isPlaced { return b.isPlaced }
    return a.sharpness < b.sharpness
  }
}

/// What frames are picked by where pictures must be compared: how sharp a picture is, and a coarse
/// copy of its brightness.
public struct PictureLook: Sendable {
  /// Sharpness of the brightness, made smaller as for `PictureMeasure`, so that it means the same for every size of
  /// video.
  public let sharpness: Sharpness
  public let outline: PictureOutline

  /// `gray` is brightness row by row, upright or not. `nil` if the values are not those of the size. A
  /// picture with a side below 3 pixels has sharpness 0. Cost: one pass over the values.
  public init?(gray: [UInt8], width: Int, height: Int) {
    guard
      let fine = BlockReduction.reduce(
        gray, width: width, height: height,
        by: BlockReduction.factor(
          width: width, height: height, longestSide: PictureMeasure.longestSide)),
      let coarse = BlockReduction.reduce(
        fine.values, width: fine.width, height: fine.height,
        by: BlockReduction.factor(
          width: fine.width, height: fine.height, longestSide: PictureOutline.longestSide))
    else { return nil }
    sharpness = Sharpness(gray: fine.values, width: fine.width, height: fine.height)
    outline = PictureOutline(values: coarse.values, width: coarse.width, height: coarse.height)
  }

  /// Looks at 8-bit RGB, row by row.
  public init?(rgb: [UInt8], width: Int, height: Int) {
    guard rgb.count % 3 == 0 else { return nil }
    var gray: [UInt8] = []
    GrayConversion.gray(fromRGB: rgb, into: &gray)
    self.init(gray: gray, width: width, height: height)
  }
}

/// The brightness of a picture on a coarse grid, of at most 64 × 64 values: noise and fine detail are
/// gone, so that what differs between two of them is what the camera sees.
public struct PictureOutline: Hashable, Sendable {
  static let longestSide = 64

  let values: [UInt8]
  let width: Int
  let height: Int

  /// The mean absolute difference of brightness to another picture, in levels (0…255), after the means of
  /// both were made equal: a change of exposure counts less than one of the view. `nil` for pictures of
  /// different sizes. Integers until the last division, so that it is the same on every machine.
  public func change(to other: PictureOutline) -> Double? {
    guard width == other.width, height == other.height, !values.isEmpty,
      values.count == other.values.count
    else { return nil }
    let count = values.count
    var sum = 0
    for at in 0..<count { sum += Int(values[at]) - Int(other.values[at]) }
    var deviations = 0
    for at in 0..<count {
      deviations += abs((Int(values[at]) - Int(other.values[at])) * count - sum)
    }
    return Double(deviations) / (Double(count) * Double(count))
  }
}

/// Parts a row of `m` things evenly: window k contains ⌊k·m/count⌋ to ⌊(k+1)·m/count⌋ - 1. If there are more windows
/// than things, empty ones are left out.
public func evenWindows(of m: Int, count: Int) -> [Range<Int>] {
  // At most one window per thing: more would be empty.
  guard count < m else { return (0..<max(0, m)).map { $0..<$0 + 1 } }
  return (0..<max(0, count)).map { k in
    // k·m overflows 64 bits only for counts above m.
    (k * m / count)..<((k + 1) * m / count)
  }
}

/// Which frames are wanted, by canonical index. `first` and `last` are included.
public struct FrameSelection: Hashable, Sendable {
  public var every: Int
  public var first: Int
  /// `nil`: to the end of the capture.
  public var last: Int?
  /// Limits the selection to these frames; `nil`: no limit.
  private(set) var only: Set<Int>?

  /// `every` below 1 counts as 1.
  public init(every: Int = 1, first: Int = 0, last: Int? = nil) {
    self.every = max(1, every)
    self.first = first
    self.last = last
  }

  /// Exactly these frames.
  public init(only frames: Set<Int>) {
    self.init(first: frames.min() ?? 0, last: frames.max() ?? -1)
    only = frames
  }

  public func contains(_ frame: Int) -> Bool {
    frame >= first && frame <= last ?? .max && frame % every == 0
      && only?.contains(frame) ?? true
  }

  /// Whether no frame at or after `frame` is wanted.
  public func isOver(at frame: Int) -> Bool { frame > last ?? .max }
}
