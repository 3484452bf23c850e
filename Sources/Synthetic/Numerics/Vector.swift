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
struct Matrix3: Hashable {
  var x: Vector3
  var y: Vector3
  var z: Vector3

  static let identity = Matrix3(
    x: Vector3(1, 0, 0), y: Vector3(0, 1, 0), z: Vector3(0, 0, 1))

  /// (x, y, z) becomes (x, -z, y).
  static let zUpFromYUp = Matrix3(
    x: Vector3(1, 0, 0), y: Vector3(0, 0, 1), z: Vector3(0, -1, 0))

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

/// Sine, cosine and arc tangent by additions, multiplications and divisions only.
///
/// The functions of C libraries may differ in the last bit between versions and processors; these
/// give the same capture everywhere. Polynomials and reduction constants are those of fdlibm (Sun
/// Microsystems, 1993); errors stay below two units of the last place for arguments up to 10⁵.
enum Trigonometry {
  static let pi = 3.141592653589793

  static func sine(_ angle: Double) -> Double { sineAndCosine(angle).sine }

  static func cosine(_ angle: Double) -> Double { sineAndCosine(angle).cosine }

  /// Computes both with one argument reduction.
  static func sineAndCosine(_ angle: Double) -> (sine: Double, cosine: Double) {
    // π/2 in two parts: the first has 33 bits, so that its product with a small integer is exact.
    let quarter = (angle * 0.6366197723675814).rounded(.toNearestOrEven)
    let rest = (angle - quarter * 1.5707963267341256) - quarter * 6.077100506506192e-11
    let s = kernelSine(rest)
    let c = kernelCosine(rest)
    switch Int(quarter) & 3 {
    case 0: return (s, c)
    case 1: return (c, -s)
    case 2: return (-s, -c)
    default: return (-c, s)
    }
  }

  /// The angle of the point (x, y), −π…π; 0 at the origin.
  static func arcTangent(y: Double, x: Double) -> Double {
    if x == 0, y == 0 { return 0 }
    if x.magnitude >= y.magnitude {
      let angle = arcTangent(y / x)
      if x > 0 { return angle }
      return y < 0 ? angle - pi : angle + pi
    }
    let angle = -arcTangent(x / y)
    return y > 0 ? angle + pi / 2 : angle - pi / 2
  }

  /// −π/2…π/2; arguments beyond ±1 count as ±1.
  static func arcSine(_ value: Double) -> Double {
    let value = max(-1, min(1, value))
    return arcTangent(y: value, x: (1 - value * value).squareRoot())
  }

  private static func kernelSine(_ x: Double) -> Double {
    let z = x * x
    let tail =
      8.33333333332248946124e-03
      + z
      * (-1.98412698298579493134e-04
        + z
        * (2.75573137070700676789e-06
          + z * (-2.50507602534068634195e-08 + z * 1.58969099521155010221e-10)))
    return x + z * x * (-1.66666666666666324348e-01 + z * tail)
  }

  private static func kernelCosine(_ x: Double) -> Double {
    let z = x * x
    let tail =
      4.16666666666666019037e-02
      + z
      * (-1.38888888888741095749e-03
        + z
        * (2.48015872894767294178e-05
          + z
          * (-2.75573143513906633035e-07
            + z * (2.08757232129817482790e-09 + z * -1.13596475577881948265e-11))))
    return 1 - (0.5 * z - z * z * tail)
  }

  /// For −1…1: the angle is halved once (tan a/2 = t / (1 + √(1 + t²))), then fdlibm's series is
  /// used.
  private static func arcTangent(_ t: Double) -> Double {
    let x = t / (1 + (1 + t * t).squareRoot())
    let z = x * x
    let coefficients = [
      3.33333333333329318027e-01, -1.99999999998764832476e-01, 1.42857142725034663711e-01,
      -1.11111104054623557880e-01, 9.09088713343650656196e-02, -7.69187620504482999495e-02,
      6.66107313738753120669e-02, -5.83357013379057348645e-02, 4.97687799461593236017e-02,
      -3.65315727442169155270e-02, 1.62858201153657823623e-02,
    ]
    var sum = 0.0
    for coefficient in coefficients.reversed() { sum = sum * z + coefficient }
    return 2 * (x - x * z * sum)
  }
}
