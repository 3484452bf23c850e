import FoundationEssentials
import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import Core
@testable import Media

/// A chart of patches as a lossless HEVC video of 10 bits, limited range, whose samples are known.
struct LightChart {
  static let patch = 16
  static let columns = 8

  /// Y, Cb, Cr of each patch, row by row.
  let samples: [(y: Int, u: Int, v: Int)]
  let folder: TemporaryFolder
  let file: FilePath
  var width: Int { Self.patch * Self.columns }
  var height: Int { Self.patch * rows }
  private var rows: Int { (samples.count + Self.columns - 1) / Self.columns }

  /// Luma weights of red and blue.
  struct Matrix {
    var red: Double
    var blue: Double
    static let bt2020 = Matrix(red: 0.2627, blue: 0.0593)
    static let bt709 = Matrix(red: 0.2126, blue: 0.0722)

    func samples(_ rgb: LightReference.Triple) -> (y: Int, u: Int, v: Int) {
      let y = red * rgb.0 + (1 - red - blue) * rgb.1 + blue * rgb.2
      return (
        Int((64 + 876 * y).rounded()), Int((512 + 448 * (rgb.2 - y) / (1 - blue)).rounded()),
        Int((512 + 448 * (rgb.0 - y) / (1 - red)).rounded())
      )
    }

    /// Signals of samples; beyond 0…1 where rounding or the sample leads there.
    func signals(_ sample: (y: Int, u: Int, v: Int)) -> LightReference.Triple {
      let y = (Double(sample.y) - 64) / 876
      let blueness = (Double(sample.u) - 512) / 896 * 2 * (1 - blue)
      let redness = (Double(sample.v) - 512) / 896 * 2 * (1 - red)
      let (r, b) = (y + redness, y + blueness)
      return (r, (y - red * r - blue * b) / (1 - red - blue), b)
    }
  }

  /// Signals of gray steps, of the colors of a cube's corners at several strengths, and of skin, up to
  /// `most`.
  static func signals(most: Double) -> [LightReference.Triple] {
    var all: [LightReference.Triple] = (0..<16).map {
      let value = most * Double($0) / 15
      return (value, value, value)
    }
    for strength in [0.5, 0.75, 1.0] {
      let (high, low) = (most * strength, most * strength * 0.35)
      for corner in 1..<7 {
        all.append(
          (corner & 1 == 0 ? low : high, corner & 2 == 0 ? low : high, corner & 4 == 0 ? low : high)
        )
      }
      all.append((high, 0.8 * high, 0.7 * high))
      all.append((high * 0.55, high * 0.4, high * 0.35))
    }
    return all
  }

  /// - Parameters:
  ///   - options: the encoder's tags.
  ///   - settings: more of x265.
  init(
    _ samples: [(y: Int, u: Int, v: Int)], _ options: [String], settings: String = ""
  ) throws {
    self.samples = samples
    folder = try TemporaryFolder()
    file = folder.path.appending("chart.mov")
    let rows = (samples.count + Self.columns - 1) / Self.columns
    let (width, height) = (Self.patch * Self.columns, Self.patch * rows)
    var bytes: [UInt8] = []
    func plane(_ step: Int, _ value: ((y: Int, u: Int, v: Int)) -> Int) {
      for y in stride(from: 0, to: height, by: step) {
        for x in stride(from: 0, to: width, by: step) {
          let place = y / Self.patch * Self.columns + x / Self.patch
          let sample = UInt16(value(samples[min(place, samples.count - 1)]))
          bytes += [UInt8(truncatingIfNeeded: sample), UInt8(sample >> 8)]
        }
      }
    }
    plane(1, \.y)
    plane(2, \.u)
    plane(2, \.v)
    let raw = folder.path.appending("chart.yuv")
    try raw.write(bytes)
    let status = try PeerProgram.ffmpeg.run(
      [
        "-nostdin", "-v", "error", "-f", "rawvideo", "-pix_fmt", "yuv420p10le", "-s",
        "\(width)x\(height)", "-r", "30", "-i", "\(raw)", "-c:v", "libx265", "-x265-params",
        "log-level=none:lossless=1" + settings, "-tag:v", "hvc1", "-color_range", "tv",
      ] + options + ["file:\(file)"])
    #expect(status == 0)
  }

  static func tags(_ transfer: String, _ primaries: String, _ matrix: String) -> [String] {
    ["-color_trc", transfer, "-color_primaries", primaries, "-colorspace", matrix]
  }

  /// What the video says of its colors.
  func color() throws -> VideoColor {
    try #require(try VideoIndex.read(file).tracks.first).color
  }

  func first(turns: Int = 0, isMirrored: Bool = false) throws -> DecodedPicture {
    let track = try #require(try VideoIndex.read(file).tracks.first)
    let decoder = try VideoDecoder(
      file, order: track.order,
      orientation: VideoOrientation(
        clockwiseQuarterTurns: turns, isMirrored: isMirrored, isIgnored: false))
    return try #require(try decoder.next())
  }

  /// The pixel in the middle of a patch.
  func pixel<Sample>(_ place: Int, in rgb: [Sample]) -> [Sample] {
    let x = place % Self.columns * Self.patch + Self.patch / 2
    let y = place / Self.columns * Self.patch + Self.patch / 2
    let start = 3 * (y * width + x)
    return Array(rgb[start..<start + 3])
  }

  /// The picture as the ffmpeg program converts it with these filters.
  func picture(filters: String) throws -> ColorImage {
    let made = folder.path.appending("peer.png")
    let status = try PeerProgram.ffmpeg.run([
      "-nostdin", "-v", "error", "-y", "-i", "file:\(file)", "-vf", filters, "-frames:v", "1",
      "-pix_fmt", "rgb24", "\(made)",
    ])
    try #require(status == 0)
    return try PNGReader.color(at: made)
  }
}

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
