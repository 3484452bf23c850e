/// A rotation between the axes of two sensors, as a unit quaternion.
struct AxisTurn: Sendable, Hashable {
  /// x, y, z, w.
  private let q: SIMD4<Double>

  static let none = AxisTurn(q: SIMD4(0, 0, 0, 1))

  private init(q: SIMD4<Double>) { self.q = q }

  func applied(to v: SIMD3<Double>) -> SIMD3<Double> {
    let axis = SIMD3(q.x, q.y, q.z)
    let twice = Self.cross(axis, v) * 2
    return v + twice * q.w + Self.cross(axis, twice)
  }

  private static func cross(_ a: SIMD3<Double>, _ b: SIMD3<Double>) -> SIMD3<Double> {
    SIMD3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x)
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
