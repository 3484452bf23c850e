typealias Vector3 = SIMD3<Double>

extension SIMD3<Double> {
  func dot(_ other: Vector3) -> Double { x * other.x + y * other.y + z * other.z }

  func cross(_ other: Vector3) -> Vector3 {
    Vector3(
      y * other.z - z * other.y, z * other.x - x * other.z, x * other.y - y * other.x)
  }

  var length: Double { dot(self).squareRoot() }

  var array: [Double] { [x, y, z] }
}

/// A 3×3 matrix by its columns, which are the images of the three axes.
struct Matrix3: Hashable, Sendable {
  var x: Vector3
  var y: Vector3
  var z: Vector3

  static let identity = Matrix3(
    x: Vector3(1, 0, 0), y: Vector3(0, 1, 0), z: Vector3(0, 0, 1))

  static func * (m: Matrix3, v: Vector3) -> Vector3 { m.x * v.x + m.y * v.y + m.z * v.z }

  static func * (a: Matrix3, b: Matrix3) -> Matrix3 { Matrix3(x: a * b.x, y: a * b.y, z: a * b.z) }

  var transposed: Matrix3 {
    Matrix3(
      x: Vector3(x.x, y.x, z.x), y: Vector3(x.y, y.y, z.y), z: Vector3(x.z, y.z, z.z))
  }

  /// Nine numbers, row by row.
  var rowMajor: [Double] { [x.x, y.x, z.x, x.y, y.y, z.y, x.z, y.z, z.z] }

  /// A right-handed rotation about the x axis, radians.
  static func aboutX(_ angle: Double) -> Matrix3 {
    let (s, c) = Trigonometry.sineAndCosine(angle)
    return Matrix3(x: Vector3(1, 0, 0), y: Vector3(0, c, s), z: Vector3(0, -s, c))
  }

  static func aboutY(_ angle: Double) -> Matrix3 {
    let (s, c) = Trigonometry.sineAndCosine(angle)
    return Matrix3(x: Vector3(c, 0, -s), y: Vector3(0, 1, 0), z: Vector3(s, 0, c))
  }

  static func aboutZ(_ angle: Double) -> Matrix3 {
    let (s, c) = Trigonometry.sineAndCosine(angle)
    return Matrix3(x: Vector3(c, s, 0), y: Vector3(-s, c, 0), z: Vector3(0, 0, 1))
  }
}
