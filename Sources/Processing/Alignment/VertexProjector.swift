import Core

/// Converts rows of depth to rows of vertices on the output grid.
///
/// A vertex row is four streams of `stride` values: u, v (output pixels), w = 1/Z in the color
/// camera (1/mm), and the stored depth z (mm). Pixels without a vertex and padding columns have z =
/// +∞, which fails every discontinuity test, and u = v = w = 0.
struct VertexProjector {
  /// Values per stream of a row: the width plus at least three, a multiple of four.
  let stride: Int
  private let width: Int
  private let translation: [Float]
  private let pinhole: PinholeCamera
  private let distortion: LensDistortion
  private let squaredRadiusLimit: Float
  private let minimumDepth: Float
  /// Whether positions are rounded to 1/512 pixel.
  private let snaps: Bool

  static func stride(width: Int) -> Int { (width + 6) / 4 * 4 }
  static let streams = 4

  /// `color` is the color camera on the output grid; lengths are in meters.
  init(
    width: Int, translation: [Double], color: LensCamera, minimumDepth: Double, snaps: Bool
  ) {
    self.width = width
    stride = Self.stride(width: width)
    self.translation = translation.map { Float($0 * 1000) }
    pinhole = color.pinhole
    distortion = color.distortion
    squaredRadiusLimit = Float(color.radiusLimit * color.radiusLimit)
    self.minimumDepth = Float(minimumDepth * 1000)
    self.snaps = snaps
  }

  /// Fills one vertex row from `width` depths and the row's rays in a `RayTable`. Returns the
  /// largest v of its vertices, or 0 if there are none or all are above the picture.
  @discardableResult
  func project(
    depth: UnsafePointer<UInt16>, rays: UnsafePointer<Float>, into row: UnsafeMutablePointer<Float>
  ) -> Float {
    let z = row + 3 * stride
    var i = 0
    while i < width {
      z[i] = Float(depth[i])
      i &+= 1
    }
    while i < stride {
      z[i] = 0
      i &+= 1
    }
    return if distortion.isNone {
      project(PinholeTerms(), rays: rays, row: row)
    } else if distortion.k4 == 0, distortion.k5 == 0, distortion.k6 == 0 {
      project(PolynomialTerms(distortion), rays: rays, row: row)
    } else {
      project(RationalTerms(distortion), rays: rays, row: row)
    }
  }

  @inline(__always)
  private func project(
    _ lens: some LensTerms, rays: UnsafePointer<Float>, row: UnsafeMutablePointer<Float>
  ) -> Float {
    let tx = Four(repeating: translation[0])
    let ty = Four(repeating: translation[1])
    let tz = Four(repeating: translation[2])
    let fx = Four(repeating: Float(pinhole.fx))
    let fy = Four(repeating: Float(pinhole.fy))
    let cx = Four(repeating: Float(pinhole.cx))
    let cy = Four(repeating: Float(pinhole.cy))
    let nearest = Four(repeating: minimumDepth)
    let limit = Four(repeating: squaredRadiusLimit)
    let zero = Four(repeating: 0)
    // In the binade of 1.5 · 2¹⁴ neighboring floats are 1/512 apart: adding it rounds |u| < 8192 to
    // multiples of that. The edge functions of small quads are then exact, so that no gap can
    // appear.
    let snap = Four(repeating: 24_576)
    var lowest = zero
    var i = 0
    while i < stride {
      let z = row.four(3 &* stride &+ i)
      let qz = z * rays.four(3 &* i &+ 8) + tz
      let w = 1 / qz
      let x = (z * rays.four(3 &* i) + tx) * w
      let y = (z * rays.four(3 &* i &+ 4) + ty) * w
      let s = x * x + y * y
      let point = lens.distorted(x: x, y: y, s: s)
      var u = fx * point.x + cx
      var v = fy * point.y + cy
      if snaps {
        u = (u + snap) - snap
        v = (v + snap) - snap
      }
      // NaN, the result of a missing ray, fails each of these tests.
      let isVertex =
        bits(z .> zero) & bits(qz .>= nearest) & bits(s .< limit)
        & bits(magnitude(u) .< Self.farthest) & bits(magnitude(v) .< Self.farthest)
      row.storeFour(keep(u, where: isVertex), i)
      let shown = keep(v, where: isVertex)
      lowest = greater(lowest, shown)
      row.storeFour(shown, stride &+ i)
      row.storeFour(keep(w, where: isVertex), 2 &* stride &+ i)
      row.storeFour(select(isVertex, z, else: Four(repeating: .infinity)), 3 &* stride &+ i)
      i &+= 4
    }
    return lowest.max()
  }

  /// The smallest and largest v of a row's vertices; `nil` without vertices.
  func lines(of row: UnsafePointer<Float>) -> ClosedRange<Float>? {
    var first = Four(repeating: .infinity)
    var last = Four(repeating: -.infinity)
    var i = 0
    while i < stride {
      let v = row.four(stride &+ i)
      let isVertex = bits(row.four(2 &* stride &+ i) .> Four(repeating: 0))
      first = lesser(first, select(isVertex, v, else: first))
      last = greater(last, select(isVertex, v, else: last))
      i &+= 4
    }
    let (smallest, largest) = (first.min(), last.max())
    return smallest <= largest ? smallest...largest : nil
  }

  /// Positions more than this many pixels from the corner are treated as not finite.
  private static let farthest = Four(repeating: 1e9)
}

/// A lens equation for four points at a time in single precision. The type is chosen once per row
/// of pixels.
///
/// Differs from double precision by less than 1e-6 on the normalized plane inside the radius limit.
protocol LensTerms {
  /// The distorted point; `s` is x² + y².
  func distorted(x: Four, y: Four, s: Four) -> (x: Four, y: Four)
}

/// A camera without distortion.
struct PinholeTerms: LensTerms {
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

/// The rays of a grid of depth-camera positions, rotated into the color camera's axes: a = R·(x, y,
/// 1).
///
/// A depth z on the ray gives the point z·a + t, so that no lens is inverted in the frame loop.
/// Where the lens has no ray the entry is NaN, which fails every comparison. A row interleaves the
/// coordinates of four positions at a time (four x, four y, four z), padded with NaN to `stride`
/// positions: memory is read as one stream instead of three. 12 bytes per position.
struct RayTable {
  let stride: Int
  let values: [Float]
}

extension RayTable {
  static let empty = RayTable(stride: 0, values: [])

  /// Offset of the x of a column in its row; y is `lanes` values further on, z twice as many.
  static func place(ofColumn i: Int) -> Int { i / lanes * 3 * lanes + i % lanes }
  /// Positions per interleaved group.
  static let lanes = 4
  /// Number of values in a row.
  static func rowLength(stride: Int) -> Int { 3 * stride }

  /// Rays of the positions (i + offset, j + offset) for i < columns, j < rows. Cost: one lens
  /// inversion each.
  init(
    camera: LensCamera, rotation r: [Double], columns: Int, rows: Int, stride: Int,
    offset: Double = 0
  ) {
    self.stride = stride
    var values = [Float](repeating: .nan, count: Self.rowLength(stride: stride) * rows)
    for j in 0..<rows {
      for i in 0..<columns {
        guard let (x, y) = camera.ray(u: Double(i) + offset, v: Double(j) + offset) else {
          continue
        }
        let at = Self.rowLength(stride: stride) * j + Self.place(ofColumn: i)
        values[at] = Float(r[0] * x + r[1] * y + r[2])
        values[at + Self.lanes] = Float(r[3] * x + r[4] * y + r[5])
        values[at + 2 * Self.lanes] = Float(r[6] * x + r[7] * y + r[8])
      }
    }
    self.values = values
  }
}
