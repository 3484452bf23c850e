/// The two kinds of exports.
enum ThreeDScannerAppGeneration: String {
  /// Depth and confidence for every frame, color for some.
  case lidar
  /// Color for every frame, no depth.
  case highResolution = "high-resolution"
}
