/// Damage to the picture file of one frame.
enum PictureEdit {
  /// Was never written, or was lost on the way.
  case absent
  case empty
  /// Only the first half is there.
  case cut
  /// A picture of other pixels than its stream's: color for gray, or eight bits for sixteen.
  case otherKind
  /// A whole picture of half the width and height.
  case otherSize
}
