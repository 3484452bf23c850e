extension LensDistortion {
  /// Largest radius that is searched on the normalized plane: tan 84°, beyond any lens that these
  /// polynomials describe.
  static let largestSearchedRadius = 10.0

  /// The first radius r > 0 on the normalized plane at which the map r → r g stops growing or the
  /// denominator of g is no longer positive; infinite when there is none up to
  /// `largestSearchedRadius`.
  ///
  /// A point with r ≥ this limit is outside the camera: the polynomial would fold it back into the
  /// picture. With s = r², N and D the two polynomials of g, the map's slope has the sign of
  /// (N + 2 s N') D − 2 s N D', so both conditions are the first sign change of a polynomial in s, and
  /// it is found without stepping. Cost: some microseconds; compute it once per camera.
  var radiusLimit: Double {
    let n = Polynomial(coefficients: [1, k1, k2, k3])
    let d = Polynomial(coefficients: [1, k4, k5, k6])
    let twiceS = Polynomial(coefficients: [0, 2])
    let slope = (n + twiceS * n.derivative) * d + -1 * (twiceS * n * d.derivative)
    let range = 0...(Self.largestSearchedRadius * Self.largestSearchedRadius)
    let ends = [slope, d].compactMap { $0.signChanges(in: range).first }
    return ends.min()?.squareRoot() ?? .infinity
  }
}
