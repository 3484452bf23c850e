import Glibc

/// What a signal means, in double precision and from the formulas of the standards: independent of the
/// program's own tables and of zimg.
enum LightReference {
  typealias Triple = (Double, Double, Double)

  /// HDR reference white (BT.2408), which becomes the white of SDR.
  static let white = 203.0

  /// BT.2100, PQ: cd/m² of a signal.
  static func pq(_ signal: Double) -> Double {
    let power = pow(signal, 1 / 78.84375)
    return 10_000
      * pow(max(power - 0.8359375, 0) / (18.8515625 - 18.6875 * power), 1 / 0.1593017578125)
  }

  static func inversePQ(_ luminance: Double) -> Double {
    let power = pow(luminance / 10_000, 0.1593017578125)
    return pow((0.8359375 + 18.8515625 * power) / (1 + 18.6875 * power), 78.84375)
  }

  /// BT.2100, HLG: scene light of a signal.
  static func hlgScene(_ signal: Double) -> Double {
    signal <= 0.5
      ? signal * signal / 3 : (exp((signal - 0.55991073) / 0.17883277) + 0.28466892) / 12
  }

  /// BT.2100, HLG: cd/m² on the display of 1000 cd/m², whose system gamma is 1.2.
  static func hlgDisplay(_ signal: Triple) -> Triple {
    let scene = (hlgScene(signal.0), hlgScene(signal.1), hlgScene(signal.2))
    let luminance = 0.2627 * scene.0 + 0.6780 * scene.1 + 0.0593 * scene.2
    let factor = luminance > 0 ? 1000 * pow(luminance, 0.2) : 0
    return (scene.0 * factor, scene.1 * factor, scene.2 * factor)
  }

  /// Apple Log Profile White Paper (2023): reflectance of a signal.
  static func appleLog(_ signal: Double) -> Double {
    let (r0, rt, c) = (-0.05641088, 0.01, 47.28711236)
    let (beta, gamma, delta) = (0.00964052, 0.08550479, 0.69336945)
    let limit = c * (rt - r0) * (rt - r0)
    if signal >= limit { return pow(2, (signal - delta) / gamma) - beta }
    return signal >= 0 ? sqrt(signal / c) + r0 : r0
  }

  /// BT.2390, 5.4.1, without lift of black: what a display of SDR white shows of a luminance.
  static func toneMapped(_ luminance: Double, peak: Double) -> Double {
    let top = inversePQ(peak)
    let one = inversePQ(min(luminance, peak)) / top
    let most = inversePQ(white) / top
    let knee = 1.5 * most - 0.5
    guard most < 1 else { return min(luminance, white) }
    var two = one
    if one > knee {
      let t = (one - knee) / (1 - knee)
      two =
        (2 * pow(t, 3) - 3 * pow(t, 2) + 1) * knee
        + (pow(t, 3) - 2 * pow(t, 2) + t) * (1 - knee)
        + (-2 * pow(t, 3) + 3 * pow(t, 2)) * most
    }
    return pq(two * top)
  }

  /// Chromaticities of red, green, blue, all with the white of D65.
  enum Primaries {
    case bt709
    case bt2020
    case p3

    var points: [(Double, Double)] {
      switch self {
      case .bt709: [(0.64, 0.33), (0.3, 0.6), (0.15, 0.06)]
      case .bt2020: [(0.708, 0.292), (0.17, 0.797), (0.131, 0.046)]
      case .p3: [(0.68, 0.32), (0.265, 0.69), (0.15, 0.06)]
      }
    }

    /// Rows of the matrix from RGB to XYZ.
    var toXYZ: [[Double]] {
      let columns = points.map { [$0.0 / $0.1, 1, (1 - $0.0 - $0.1) / $0.1] }
      let matrix = (0..<3).map { row in columns.map { $0[row] } }
      let white = [0.3127 / 0.3290, 1, (1 - 0.3127 - 0.3290) / 0.3290]
      let scale = LightReference.solve(matrix, white)
      return matrix.map { row in zip(row, scale).map { $0 * $1 } }
    }
  }

  /// Cramer's rule.
  static func solve(_ m: [[Double]], _ v: [Double]) -> [Double] {
    func determinant(_ a: [[Double]]) -> Double {
      a[0][0] * (a[1][1] * a[2][2] - a[1][2] * a[2][1])
        - a[0][1] * (a[1][0] * a[2][2] - a[1][2] * a[2][0])
        + a[0][2] * (a[1][0] * a[2][1] - a[1][1] * a[2][0])
    }
    let whole = determinant(m)
    return (0..<3).map { column in
      var replaced = m
      for row in 0..<3 { replaced[row][column] = v[row] }
      return determinant(replaced) / whole
    }
  }

  static func toBT709(_ rgb: Triple, from primaries: Primaries) -> Triple {
    let xyz = primaries.toXYZ.map { $0[0] * rgb.0 + $0[1] * rgb.1 + $0[2] * rgb.2 }
    let found = solve(Primaries.bt709.toXYZ, xyz)
    return (found[0], found[1], found[2])
  }

  /// 8-bit codes of light with the primaries of BT.709 in cd/m²: mapped by the largest of the three, cut
  /// at 0 and 1, and encoded for BT.1886.
  static func codes(_ light: Triple, peak: Double?) -> [Double] {
    let most = max(light.0, light.1, light.2)
    var scale = 1.0
    if let peak, most > 0 { scale = toneMapped(most, peak: peak) / most }
    return [light.0, light.1, light.2].map {
      255 * pow(min(max($0 * scale / white, 0), 1), 1 / 2.4)
    }
  }
}
