/// One visible face: where texture coordinates come from and what it is made of.
struct Surface: Sendable {
  enum Shape: Sendable {
    case plane
    /// Center of the sphere; normals point away from it.
    case sphere(SIMD3<Float>)
  }

  var shape: Shape
  /// A point of the face, world, meters.
  var origin: SIMD3<Float>
  /// Directions of the texture's columns and rows, unit length.
  var along: SIMD3<Float>
  var down: SIMD3<Float>
  /// Unit length, toward the side that can be seen.
  var normal: SIMD3<Float>
  var material: Material
}

/// A box that stands in the room, turned about the vertical.
struct Block: Sendable {
  var center: Vector3
  /// Half of its sides, meters.
  var half: Vector3
  /// World from the box's own axes.
  var worldFromBlock: Matrix3
  /// Index of its first surface: faces −x, +x, −y, +y, −z, +z.
  var firstSurface: Int
}

struct Ball: Sendable {
  var center: Vector3
  var radius: Double
  var surface: Int
}

/// A point that shines on everything, without shadows.
struct Lamp: Sendable {
  var position: SIMD3<Float>
  /// Brightness at one meter.
  var power: Float
}
