extension LensDistortion {
  /// Largest error of the solution, on the normalized plane (1e-8 is 1e-5 pixel at fx = 1000).
  static let solutionTolerance = 1e-8
  /// Newton steps after which a point counts as not convergent; real lenses need three to six.
  static let mostIterations = 100
  /// Longest Newton step on the normalized plane; longer ones leave the basin of wide lenses.
  static let longestStep = 0.2

  /// The point (x, y) of the normalized plane that the lens puts at (`distortedX`, `distortedY`):
  /// the inverse of `distorted(x:y:)` inside `radiusLimit`.
  ///
  /// Newton's method with the analytic Jacobian, starting at the distorted point, steps limited to
  /// 0.2 and the radius kept below `radiusLimit`, until the re-projection error is below 1e-8. `nil`
  /// when it does not converge: no point inside the limit is seen there.
  func undistorted(
    distortedX: Double, distortedY: Double, radiusLimit: Double
  ) -> (x: Double, y: Double)? {
    guard distortedX.isFinite, distortedY.isFinite else { return nil }
    if isNone { return (distortedX, distortedY) }
    var (x, y) = (distortedX, distortedY)
    var radius = (x * x + y * y).squareRoot()
    if radius >= radiusLimit {
      // Any point inside will do as a start; this one is in the right direction.
      let factor = 0.9 * radiusLimit / radius
      (x, y, radius) = (x * factor, y * factor, 0.9 * radiusLimit)
    }
    for _ in 0..<Self.mostIterations {
      let lens = distortedWithJacobian(x: x, y: y)
      let (ex, ey) = (distortedX - lens.x, distortedY - lens.y)
      if ex * ex + ey * ey < Self.solutionTolerance * Self.solutionTolerance { return (x, y) }
      let determinant = lens.xx * lens.yy - lens.xy * lens.yx
      var stepX = (lens.yy * ex - lens.xy * ey) / determinant
      var stepY = (lens.xx * ey - lens.yx * ex) / determinant
      guard stepX.isFinite, stepY.isFinite else { return nil }
      let length = (stepX * stepX + stepY * stepY).squareRoot()
      if length > Self.longestStep {
        stepX *= Self.longestStep / length
        stepY *= Self.longestStep / length
      }
      (x, y) = (x + stepX, y + stepY)
      let reached = (x * x + y * y).squareRoot()
      if reached >= radiusLimit {
        // Halfway to the limit, so that a solution close to it can still be reached.
        let kept = (radius + radiusLimit) / 2
        (x, y, radius) = (x * kept / reached, y * kept / reached, kept)
      } else {
        radius = reached
      }
    }
    return nil
  }
}
