import Glibc

/// CIEDE2000 of two 8-bit pixels of BT.709, shown by a display of BT.1886 (gamma 2.4, D65).
enum ColorDifference {
  static func between(_ a: [Double], _ b: [Double]) -> Double { between(lab: lab(a), lab(b)) }

  static func lab(_ pixel: [Double]) -> [Double] {
    let light = pixel.map { pow($0 / 255, 2.4) }
    let xyz = LightReference.Primaries.bt709.toXYZ.map {
      $0[0] * light[0] + $0[1] * light[1] + $0[2] * light[2]
    }
    let white = [0.3127 / 0.3290, 1, (1 - 0.3127 - 0.3290) / 0.3290]
    let f = zip(xyz, white).map { value, white in
      let t = value / white
      return t > 216.0 / 24389 ? cbrt(t) : (24389.0 / 27 * t + 16) / 116
    }
    return [116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])]
  }

  /// Sharma, Wu and Dalal (2005).
  static func between(lab one: [Double], _ two: [Double]) -> Double {
    func degrees(_ radians: Double) -> Double { radians * 180 / .pi }
    func radians(_ degrees: Double) -> Double { degrees * .pi / 180 }
    let chroma = (hypot(one[1], one[2]) + hypot(two[1], two[2])) / 2
    let g = 0.5 * (1 - sqrt(pow(chroma, 7) / (pow(chroma, 7) + pow(25, 7))))
    let (a1, a2) = ((1 + g) * one[1], (1 + g) * two[1])
    let (c1, c2) = (hypot(a1, one[2]), hypot(a2, two[2]))
    func hue(_ a: Double, _ b: Double) -> Double {
      if a == 0, b == 0 { return 0 }
      let angle = degrees(atan2(b, a))
      return angle < 0 ? angle + 360 : angle
    }
    let (h1, h2) = (hue(a1, one[2]), hue(a2, two[2]))
    let (deltaL, deltaC) = (two[0] - one[0], c2 - c1)
    var deltaHue = 0.0
    if c1 * c2 != 0 {
      deltaHue = h2 - h1
      if deltaHue > 180 { deltaHue -= 360 } else if deltaHue < -180 { deltaHue += 360 }
    }
    let deltaH = 2 * sqrt(c1 * c2) * sin(radians(deltaHue / 2))
    let (l, c) = ((one[0] + two[0]) / 2, (c1 + c2) / 2)
    var h = h1 + h2
    if c1 * c2 != 0 {
      if abs(h1 - h2) <= 180 {
        h /= 2
      } else {
        h = h < 360 ? (h + 360) / 2 : (h - 360) / 2
      }
    }
    let t =
      1 - 0.17 * cos(radians(h - 30)) + 0.24 * cos(radians(2 * h))
      + 0.32 * cos(radians(3 * h + 6)) - 0.20 * cos(radians(4 * h - 63))
    let sL = 1 + 0.015 * pow(l - 50, 2) / sqrt(20 + pow(l - 50, 2))
    let (sC, sH) = (1 + 0.045 * c, 1 + 0.015 * c * t)
    let rC = 2 * sqrt(pow(c, 7) / (pow(c, 7) + pow(25, 7)))
    let rT = -sin(radians(60 * exp(-pow((h - 275) / 25, 2)))) * rC
    let (x, y, z) = (deltaL / sL, deltaC / sC, deltaH / sH)
    return sqrt(x * x + y * y + z * z + rT * y * z)
  }
}
