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
