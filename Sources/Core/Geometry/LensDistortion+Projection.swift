extension LensDistortion {
  /// Where the lens puts a point of the normalized plane (x = X/Z, y = Y/Z, dimensionless).
  ///
  /// Meant for r below `radiusLimit`; beyond it the polynomial folds back and the result has no
  /// meaning. At a pole of the rational term the result is not finite.
  public func distorted(x: Double, y: Double) -> (x: Double, y: Double) {
    let s = x * x + y * y
    let g = numerator(s) / denominator(s)
    return (
      x * g + 2 * p1 * x * y + p2 * (s + 2 * x * x),
      y * g + p1 * (s + 2 * y * y) + 2 * p2 * x * y
    )
  }

  /// The lens and its derivatives at a point: `x'`, `y'` and the Jacobian ∂(x', y')/∂(x, y).
  func distortedWithJacobian(
    x: Double, y: Double
  ) -> (x: Double, y: Double, xx: Double, xy: Double, yx: Double, yy: Double) {
    let s = x * x + y * y
    let n = numerator(s)
    let d = denominator(s)
    let g = n / d
    // dg/ds, then by the chain rule ∂g/∂x = 2 x dg/ds.
    let dn = k1 + s * (2 * k2 + s * 3 * k3)
    let dd = k4 + s * (2 * k5 + s * 3 * k6)
    let slope = (dn * d - n * dd) / (d * d)
    let mixed = 2 * slope * x * y + 2 * p1 * x + 2 * p2 * y
    return (
      x: x * g + 2 * p1 * x * y + p2 * (s + 2 * x * x),
      y: y * g + p1 * (s + 2 * y * y) + 2 * p2 * x * y,
      xx: g + 2 * slope * x * x + 2 * p1 * y + 6 * p2 * x,
      xy: mixed, yx: mixed,
      yy: g + 2 * slope * y * y + 6 * p1 * y + 2 * p2 * x
    )
  }

  /// Whether every coefficient is a finite number.
  var isFinite: Bool { openCVOrder.allSatisfy(\.isFinite) }

  func numerator(_ s: Double) -> Double { 1 + s * (k1 + s * (k2 + s * k3)) }
  func denominator(_ s: Double) -> Double { 1 + s * (k4 + s * (k5 + s * k6)) }
}
