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
