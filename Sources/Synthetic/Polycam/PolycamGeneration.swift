/// What Polycam exports.
enum PolycamGeneration: String, CaseIterable {
  /// Color, depth and confidence of every frame.
  case lidar
  /// Color of every frame, no depth.
  case photo

  var hasDepth: Bool { self == .lidar }
}
