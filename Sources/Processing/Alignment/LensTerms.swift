import Core

/// A lens equation for four points at a time in single precision. The type is chosen once per row
/// of pixels.
///
/// Differs from double precision by less than 1e-6 on the normalized plane inside the radius limit.
protocol LensTerms {
  init(_ distortion: LensDistortion)
  /// The distorted point; `s` is x² + y².
  func distorted(x: Four, y: Four, s: Four) -> (x: Four, y: Four)
}

/// A camera without distortion.
struct PinholeTerms: LensTerms {
  init(_ distortion: LensDistortion) {}

  @inline(__always)
  func distorted(x: Four, y: Four, s: Four) -> (x: Four, y: Four) { (x, y) }
}

/// A lens with the coefficients k1, k2, p1, p2, k3.
struct PolynomialTerms: LensTerms {
  let k1, k2, k3, p1, p2: Four

  init(_ distortion: LensDistortion) {
    k1 = Four(repeating: Float(distortion.k1))
    k2 = Four(repeating: Float(distortion.k2))
    k3 = Four(repeating: Float(distortion.k3))
    p1 = Four(repeating: Float(distortion.p1))
    p2 = Four(repeating: Float(distortion.p2))
  }

  @inline(__always)
  func radial(_ s: Four) -> Four { 1 + s * (k1 + s * (k2 + s * k3)) }

  @inline(__always)
  func tangential(x: Four, y: Four, s: Four) -> (x: Four, y: Four) {
    let xy = 2 * x * y
    return (p1 * xy + p2 * (s + 2 * x * x), p1 * (s + 2 * y * y) + p2 * xy)
  }

  @inline(__always)
  func distorted(x: Four, y: Four, s: Four) -> (x: Four, y: Four) {
    let g = radial(s)
    let shift = tangential(x: x, y: y, s: s)
    return (x * g + shift.x, y * g + shift.y)
  }
}

/// A lens with all eight coefficients.
struct RationalTerms: LensTerms {
  let polynomial: PolynomialTerms
  let k4, k5, k6: Four

  init(_ distortion: LensDistortion) {
    polynomial = PolynomialTerms(distortion)
    k4 = Four(repeating: Float(distortion.k4))
    k5 = Four(repeating: Float(distortion.k5))
    k6 = Four(repeating: Float(distortion.k6))
  }

  @inline(__always)
  func distorted(x: Four, y: Four, s: Four) -> (x: Four, y: Four) {
    let g = polynomial.radial(s) / (1 + s * (k4 + s * (k5 + s * k6)))
    let shift = polynomial.tangential(x: x, y: y, s: s)
    return (x * g + shift.x, y * g + shift.y)
  }
}
