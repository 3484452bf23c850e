/// Sums over pairs of angular velocities, of the camera and of the gyroscope, from which their best
/// agreement follows. They add up, so that parts of a recording can be left out or put together.
struct TurnSums {
  private var weight = 0.0
  private var camera = SIMD3<Double>.zero
  private var gyroscope = SIMD3<Double>.zero
  private var cameraSquare = 0.0
  private var gyroscopeSquare = 0.0
  /// Products of one component of the camera's velocity with the gyroscope's.
  private var productsX = SIMD3<Double>.zero
  private var productsY = SIMD3<Double>.zero
  private var productsZ = SIMD3<Double>.zero

  /// Agreement of two series of angular velocities once axes and a constant bias are adjusted.
  struct Agreement {
    /// Mean square of what is left, rad²/s².
    var residual: Double
    /// 0 to 1: 1 = they agree but for axes, bias and scale.
    var correlation: Double
    /// Mean square of the gyroscope's velocity about its mean, rad²/s².
    var gyroscopeVariance: Double
    var cameraVariance: Double
    /// From gyroscope to camera.
    var turn: AxisTurn
    /// The mean velocities, which the bias makes equal.
    var cameraMean: SIMD3<Double>
    var gyroscopeMean: SIMD3<Double>

    /// What is left of one pair.
    func rest(camera: SIMD3<Double>, gyroscope: SIMD3<Double>) -> SIMD3<Double> {
      camera - cameraMean - turn.applied(to: gyroscope - gyroscopeMean)
    }
  }

  /// Adds one pair.
  ///
  /// - Parameter weight: seconds.
  mutating func add(camera c: SIMD3<Double>, gyroscope g: SIMD3<Double>, weight w: Double) {
    weight += w
    camera += c * w
    gyroscope += g * w
    cameraSquare += (c * c).sum() * w
    gyroscopeSquare += (g * g).sum() * w
    productsX += g * (c.x * w)
    productsY += g * (c.y * w)
    productsZ += g * (c.z * w)
  }

  static func + (a: TurnSums, b: TurnSums) -> TurnSums { a.adding(b, 1) }

  static func - (a: TurnSums, b: TurnSums) -> TurnSums { a.adding(b, -1) }

  private func adding(_ other: TurnSums, _ sign: Double) -> TurnSums {
    var sum = self
    sum.weight += other.weight * sign
    sum.camera += other.camera * sign
    sum.gyroscope += other.gyroscope * sign
    sum.cameraSquare += other.cameraSquare * sign
    sum.gyroscopeSquare += other.gyroscopeSquare * sign
    sum.productsX += other.productsX * sign
    sum.productsY += other.productsY * sign
    sum.productsZ += other.productsZ * sign
    return sum
  }

  /// The covariance, a row per axis of the camera; only with pairs.
  private var covariance: [SIMD3<Double>] {
    let (c, g) = (camera / weight, gyroscope / weight)
    return [
      productsX / weight - g * c.x, productsY / weight - g * c.y, productsZ / weight - g * c.z,
    ]
  }

  private var cameraVariance: Double {
    max(0, cameraSquare / weight - (camera / weight * camera / weight).sum())
  }

  private var gyroscopeVariance: Double {
    max(0, gyroscopeSquare / weight - (gyroscope / weight * gyroscope / weight).sum())
  }

  /// How well the two agree by a given rotation from gyroscope to camera: the correlation, -1 to 1, and the mean
  /// square of what is left. `nil` without pairs.
  func agreement(by turn: AxisTurn) -> (correlation: Double, residual: Double)? {
    guard weight > 0 else { return nil }
    let axes: [SIMD3<Double>] = [SIMD3(1, 0, 0), SIMD3(0, 1, 0), SIMD3(0, 0, 1)]
    let rows = covariance
    var trace = 0.0
    for (column, axis) in axes.enumerated() {
      let turned = turn.applied(to: axis)
      for row in 0..<3 { trace += rows[row][column] * turned[row] }
    }
    let scale = (cameraVariance * gyroscopeVariance).squareRoot()
    return (
      scale > 0 ? trace / scale : 0,
      max(0, cameraVariance + gyroscopeVariance - 2 * trace)
    )
  }

  /// The agreement by the rotation between the two systems of axes that gives the best one.
  ///
  /// The best rotation turns the sum of the singular values of the covariance, the last one with the sign
  /// of its determinant, into the trace: no unknown axes are left. `nil` without pairs. Cost: the
  /// eigenvalues of a matrix of 4 x 4, about a microsecond.
  var agreement: Agreement? {
    guard weight > 0 else { return nil }
    let (cameraVariance, gyroscopeVariance) = (cameraVariance, gyroscopeVariance)
    let best = AxisTurn.best(covariance)
    let scale = (cameraVariance * gyroscopeVariance).squareRoot()
    return Agreement(
      residual: max(0, cameraVariance + gyroscopeVariance - 2 * best.trace),
      correlation: scale > 0 ? min(1, max(0, best.trace / scale)) : 0,
      gyroscopeVariance: gyroscopeVariance, cameraVariance: cameraVariance, turn: best.turn,
      cameraMean: camera / weight, gyroscopeMean: gyroscope / weight)
  }
}

/// A rotation between the axes of two sensors, as a unit quaternion.
struct AxisTurn: Hashable {
  /// x, y, z, w.
  private let q: SIMD4<Double>

  static let none = AxisTurn(q: SIMD4(0, 0, 0, 1))

  func applied(to v: SIMD3<Double>) -> SIMD3<Double> {
    let axis = SIMD3(q.x, q.y, q.z)
    let twice = cross(axis, v) * 2
    return v + twice * q.w + cross(axis, twice)
  }

  /// The rotation R for which the sum over `rows[i][j] · R[i][j]` is largest, and that sum (Horn's method).
  ///
  /// - Parameter rows: the covariance, one row per axis of the first sensor, one column per axis of the
  ///   second. R leads from the second to the first.
  static func best(_ rows: [SIMD3<Double>]) -> (turn: AxisTurn, trace: Double) {
    let (a, b, c) = (rows[0], rows[1], rows[2])
    // Symmetric; in the order x, y, z, w of the quaternion.
    var matrix: [SIMD4<Double>] = [
      SIMD4(a.x - b.y - c.z, a.y + b.x, a.z + c.x, c.y - b.z),
      SIMD4(a.y + b.x, b.y - a.x - c.z, b.z + c.y, a.z - c.x),
      SIMD4(a.z + c.x, b.z + c.y, c.z - a.x - b.y, b.x - a.y),
      SIMD4(c.y - b.z, a.z - c.x, b.x - a.y, a.x + b.y + c.z),
    ]
    var vectors: [SIMD4<Double>] = [
      SIMD4(1, 0, 0, 0), SIMD4(0, 1, 0, 0), SIMD4(0, 0, 1, 0), SIMD4(0, 0, 0, 1),
    ]
    // Jacobi's rotations converge quadratically: six sweeps are enough for any matrix of this size.
    for _ in 0..<8 {
      var rest = 0.0
      for row in 0..<3 { for column in (row + 1)..<4 { rest += abs(matrix[row][column]) } }
      let size = (0..<4).reduce(0) { $0 + abs(matrix[$1][$1]) }
      if rest <= 1e-16 * size { break }
      for row in 0..<3 {
        for column in (row + 1)..<4 { annul(row, column, &matrix, &vectors) }
      }
    }
    let largest = (0..<4).max { matrix[$0][$0] < matrix[$1][$1] } ?? 3
    let q = SIMD4(
      vectors[0][largest], vectors[1][largest], vectors[2][largest], vectors[3][largest])
    let length = (q * q).sum().squareRoot()
    guard length > 0, length.isFinite else { return (.none, 0) }
    return (AxisTurn(q: q / length), matrix[largest][largest])
  }

  /// Makes one pair of elements zero.
  private static func annul(
    _ p: Int, _ q: Int, _ matrix: inout [SIMD4<Double>], _ vectors: inout [SIMD4<Double>]
  ) {
    let off = matrix[p][q]
    guard off != 0 else { return }
    let theta = (matrix[q][q] - matrix[p][p]) / (2 * off)
    let t = (theta < 0 ? -1 : 1) / (abs(theta) + (theta * theta + 1).squareRoot())
    let c = 1 / (t * t + 1).squareRoot()
    let s = t * c
    for k in 0..<4 {
      let (x, y) = (matrix[k][p], matrix[k][q])
      matrix[k][p] = c * x - s * y
      matrix[k][q] = s * x + c * y
    }
    for k in 0..<4 {
      let (x, y) = (matrix[p][k], matrix[q][k])
      matrix[p][k] = c * x - s * y
      matrix[q][k] = s * x + c * y
    }
    for k in 0..<4 {
      let (x, y) = (vectors[k][p], vectors[k][q])
      vectors[k][p] = c * x - s * y
      vectors[k][q] = s * x + c * y
    }
  }
}

/// The cross product.
@inline(__always)
func cross<Scalar: FloatingPoint>(_ a: SIMD3<Scalar>, _ b: SIMD3<Scalar>) -> SIMD3<Scalar> {
  SIMD3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x)
}
