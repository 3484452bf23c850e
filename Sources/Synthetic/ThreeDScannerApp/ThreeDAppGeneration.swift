/// What 3D Scanner App records.
enum ThreeDAppGeneration: String, CaseIterable {
  /// Depth and confidence of every frame, color of every third.
  case lidar
  /// Color of every frame, no depth.
  case highResolution = "high-resolution"

  var hasDepth: Bool { self == .lidar }

  /// Steps between frames with color.
  var colorStep: Int { self == .lidar ? 3 : 1 }
}
