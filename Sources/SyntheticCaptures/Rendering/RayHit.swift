/// The first hit of the ray through a pixel's center.
struct RayHit: BitwiseCopyable, Sendable {
  /// Distance along the optical axis, meters; exact up to rounding.
  var depth: Double
  /// Index into the scene's surfaces.
  var surface: Int32

  static let none = RayHit(depth: .infinity, surface: 0)
}
