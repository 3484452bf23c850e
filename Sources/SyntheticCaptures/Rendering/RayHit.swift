/// What the ray through a pixel's center meets first.
struct RayHit: BitwiseCopyable, Sendable {
  /// Distance along the optical axis, meters: exact but for the rounding of doubles.
  var depth: Double
  /// Index into the room's surfaces.
  var surface: Int32

  static let none = RayHit(depth: .infinity, surface: 0)
}
