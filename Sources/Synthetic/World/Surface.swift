/// One visible face: its texture coordinates and material.
struct Surface: Sendable {
  enum Shape: Sendable {
    case plane
    /// Center of the sphere; normals point away from it.
    case sphere(SIMD3<Float>)
  }

  var shape: Shape
  /// A point of the face, world axes, meters.
  var origin: SIMD3<Float>
  /// Directions of the texture's columns and rows, unit length.
  var along: SIMD3<Float>
  var down: SIMD3<Float>
  /// Unit length, toward the visible side.
  var normal: SIMD3<Float>
  var material: Material
}

/// A box in the room, rotated about the vertical.
struct Block: Sendable {
  var center: Vector3
  /// Half of its side lengths, meters.
  var half: Vector3
  /// The box's own axes to world axes.
  var worldFromBlock: Matrix3
  /// Index of its first surface: faces −x, +x, −y, +y, −z, +z.
  var firstSurface: Int
}

struct Ball: Sendable {
  var center: Vector3
  var radius: Double
  var surface: Int
}

/// A point light without shadows.
struct Lamp: Sendable {
  var position: SIMD3<Float>
  /// Brightness at a distance of one meter.
  var power: Float
}
