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
