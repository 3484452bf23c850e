/// Which inertial samples belong to a frame.
public enum IMUMatchMode: Hashable, Sendable {
  /// Every sample with abs(offset) ≤ window, both ends included. Windows of neighboring frames may
  /// share samples.
  case symmetric(windowNanoseconds: Int64)
  /// Every sample with previous frame < time ≤ this frame; none for the first frame. The previous
  /// frame is the one before it by time, whatever order the frames have: every sample between the
  /// first and the last frame belongs to exactly one. Of frames at the same time it is the one with
  /// the lowest index.
  case previousFrame
  /// For each sensor the sample nearest in time, if abs(offset) ≤ window; the earlier one on a tie.
  case nearest(windowNanoseconds: Int64)
  /// For each sensor one value at the frame's own time, linear between the samples before and
  /// after; none across a gap and none before the first or after the last sample.
  case interpolate
}
