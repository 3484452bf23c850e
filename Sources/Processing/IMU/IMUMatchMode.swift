/// Which inertial samples belong to a frame.
public enum IMUMatchMode: Hashable, Sendable {
  /// Every sample with abs(offset) ≤ window, both ends included. Windows of neighboring frames may
  /// share samples.
  case symmetric(windowNanoseconds: Int64)
  /// Every sample with previous frame < time ≤ this frame; none for the first frame. The previous
  /// frame is the last one before it, by index, that has a time.
  case previousFrame
  /// Of each sensor the sample nearest in time, if abs(offset) ≤ window; the earlier one on a tie.
  case nearest(windowNanoseconds: Int64)
  /// One value of each sensor at the frame's own time, linear between the samples on both sides;
  /// none across a gap and none outside the samples.
  case interpolate
}
