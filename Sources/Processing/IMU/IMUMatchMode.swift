/// Which inertial samples belong to a frame.
public enum IMUMatchMode: Hashable, Sendable {
  /// Every sample with abs(offset) ≤ window, both ends included. Windows of neighboring frames may
  /// share samples.
  case symmetric(windowNanoseconds: Int64)
  /// Every sample with previous frame < time ≤ this frame; none for the first frame. The previous
  /// frame is the last one before it, by index, that has a time.
  case previousFrame
  /// For each sensor the sample nearest in time, if abs(offset) ≤ window; the earlier one on a tie.
  case nearest(windowNanoseconds: Int64)
  /// For each sensor one value at the frame's own time, linear between the samples before and
  /// after; none across a gap and none before the first or after the last sample.
  case interpolate
}
