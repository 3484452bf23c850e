import TestSupport
import Testing

@testable import Core
@testable import Processing

@Suite("Aligned depth against a slow reference in double precision")
struct AlignmentReferenceTests {
  /// What may differ by surface: pixels of a coverage and of a depth, each a number and a share, and the share that is equal at
  /// least. Vertices of the mesh are rounded to 1/512 pixel: a center that close to an outline may fall to either side.
  private typealias Bounds = (coverage: (Double, Double), depth: (Double, Double), equal: Double)

  private func expectReference(_ scene: RandomScene, within bounds: Bounds) throws {
    let ours = try DepthAligner(calibration: scene.calibration, parameters: scene.parameters)
      .aligned(scene.depth)
    let reference = try ReferenceAligner(scene.calibration, scene.parameters).aligned(scene.depth)
    let result = PictureComparison(ours, reference)
    let pixels = Double(ours.millimeters.count)
    #expect(
      Double(result.differentCoverage) <= bounds.coverage.0 + bounds.coverage.1 * pixels)
    #expect(Double(result.differentDepth) <= bounds.depth.0 + bounds.depth.1 * pixels)
    #expect(result.equal > bounds.equal)
  }

  @Test("The mesh of a random scene is the reference's", arguments: UInt64(0)..<120)
  func mesh(seed: UInt64) throws {
    try expectReference(RandomScene(seed: seed), within: ((2, 3e-4), (1, 1e-5), 0.95))
  }

  @Test("The random scenes cover every grid and zoom, each with and without lenses")
  func scenesCoverEverything() {
    var kinds: Set<String> = []
    for seed in UInt64(0)..<120 {
      let scene = RandomScene(seed: seed)
      kinds.insert(
        "\(scene.parameters.grid) \(scene.calibration.depthDistortion.isNone)"
          + " \(scene.calibration.depthDistortion.k4 != 0) \(scene.calibration.colorDistortion.k4 != 0)"
      )
    }
    for grid in AlignmentParameters.Grid.allCases {
      #expect(kinds.contains("\(grid) true false false"), "\(grid) without lenses")
      #expect(kinds.contains { $0.hasPrefix("\(grid) false") }, "\(grid) with lenses")
      #expect(
        kinds.contains { $0.hasPrefix("\(grid)") && $0.hasSuffix("true") }, "\(grid) rational")
    }
    #expect(kinds.contains { $0.contains("false true false") }, "depth rational, color not")
  }

  @Test(
    "Points and rectangles of a random scene are the reference's", arguments: UInt64(0)..<24,
    [AlignmentParameters.Surface.points, .rectangle])
  func splats(seed: UInt64, surface: AlignmentParameters.Surface) throws {
    try expectReference(
      RandomScene(seed: seed, surface: surface), within: ((1, 1e-4), (1, 1e-4), 0.97))
  }
}

/// Alignment as it is written down, one triangle and one pixel at a time in double precision: slow, and
/// sharing nothing with the code under test but the values it takes.
struct ReferenceAligner {
  let depth: ReferenceCamera
  let output: ReferenceCamera
  let colorFromDepth: RigidTransform
  let parameters: AlignmentParameters

  private struct Vertex {
    var u, v, z: Double
    var stored: Int
  }

  init(_ calibration: DepthCalibration, _ parameters: AlignmentParameters) throws {
    let depth = try #require(calibration.depthIntrinsics)
    let color = try #require(calibration.colorIntrinsics)
    let size: (Int, Int) =
      switch parameters.grid {
      case .color: (color.width, color.height)
      case .halfColor: (color.width / 2, color.height / 2)
      case .quarterColor: (color.width / 4, color.height / 4)
      case .depth: (depth.width, depth.height)
      }
    let (sx, sy) = (Double(size.0) / Double(color.width), Double(size.1) / Double(color.height))
    let grid = PinholeCamera(
      width: size.0, height: size.1, fx: color.fx * sx, fy: color.fy * sy,
      cx: (color.cx + 0.5) * sx - 0.5, cy: (color.cy + 0.5) * sy - 0.5)
    self.depth = ReferenceCamera(depth, calibration.depthDistortion)
    output = ReferenceCamera(grid, calibration.colorDistortion)
    colorFromDepth = try #require(calibration.colorFromDepth)
    self.parameters = parameters
  }

  func aligned(_ image: DepthImage) -> DepthImage {
    var nearest = [Double](
      repeating: .infinity, count: output.pinhole.width * output.pinhole.height)
    let vertices = vertices(of: image)
    switch parameters.surface {
    case .mesh:
      for j in 0..<(image.height - 1) {
        for i in 0..<(image.width - 1) {
          let at = j * image.width + i
          drawQuad(
            vertices[at], vertices[at + 1], vertices[at + image.width],
            vertices[at + image.width + 1], &nearest)
        }
      }
    case .points:
      for case let vertex? in vertices { drawPoint(vertex, &nearest) }
    case .rectangle:
      for j in 0..<image.height {
        for i in 0..<image.width {
          guard let vertex = vertices[j * image.width + i] else { continue }
          drawPoint(vertex, &nearest)
          drawBox(i, j, vertex, &nearest)
        }
      }
    }
    let millimeters = nearest.map { z -> UInt16 in
      let rounded = (z + 0.5).rounded(.down)
      return rounded >= 1 && rounded <= 65_535 ? UInt16(rounded) : 0
    }
    return DepthImage(
      width: output.pinhole.width, height: output.pinhole.height, millimeters: millimeters)
  }

  private func vertices(of image: DepthImage) -> [Vertex?] {
    image.millimeters.enumerated().map { index, z in
      vertex(Double(index % image.width), Double(index / image.width), Int(z))
    }
  }

  private func vertex(_ i: Double, _ j: Double, _ stored: Int) -> Vertex? {
    guard stored > 0, let ray = depth.ray(i, j) else { return nil }
    let z = Double(stored) / 1000
    let q = colorFromDepth.apply(to: [z * ray.x, z * ray.y, z])
    guard q[2] >= parameters.minimumDepth, let pixel = output.project(q) else { return nil }
    return Vertex(u: pixel.u, v: pixel.v, z: q[2] * 1000, stored: stored)
  }

  private func drawQuad(
    _ a: Vertex?, _ b: Vertex?, _ c: Vertex?, _ d: Vertex?, _ nearest: inout [Double]
  ) {
    switch (a, b, c, d) {
    case (let a?, let b?, let c?, let d?):
      if abs(b.stored - c.stored) <= abs(a.stored - d.stored) {
        drawTriangle(a, b, c, &nearest)
        drawTriangle(b, d, c, &nearest)
      } else {
        drawTriangle(a, b, d, &nearest)
        drawTriangle(a, d, c, &nearest)
      }
    case (nil, let b?, let c?, let d?): drawTriangle(b, d, c, &nearest)
    case (let a?, nil, let c?, let d?): drawTriangle(a, d, c, &nearest)
    case (let a?, let b?, nil, let d?): drawTriangle(a, b, d, &nearest)
    case (let a?, let b?, let c?, nil): drawTriangle(a, b, c, &nearest)
    default: break
    }
  }

  private func drawTriangle(_ a: Vertex, _ b: Vertex, _ c: Vertex, _ nearest: inout [Double]) {
    let low = min(a.stored, b.stored, c.stored)
    let high = max(a.stored, b.stored, c.stored)
    let limit =
      parameters.discontinuityAbsolute * 1000 + parameters.discontinuityRelative * Double(low)
    guard Double(high - low) <= limit + 1e-9 else { return }
    let area = (b.u - a.u) * (c.v - a.v) - (b.v - a.v) * (c.u - a.u)
    guard area > 0 else { return }
    let columns = Self.pixels([a.u, b.u, c.u], below: output.pinhole.width)
    let rows = Self.pixels([a.v, b.v, c.v], below: output.pinhole.height)
    for y in rows {
      for x in columns {
        func weight(_ p: Vertex, _ q: Vertex) -> Double {
          ((q.u - p.u) * (Double(y) - p.v) - (q.v - p.v) * (Double(x) - p.u)) / area
        }
        let (wa, wb, wc) = (weight(b, c), weight(c, a), weight(a, b))
        guard wa >= -1e-12, wb >= -1e-12, wc >= -1e-12 else { continue }
        let z = 1 / (wa / a.z + wb / b.z + wc / c.z)
        let at = y * output.pinhole.width + x
        nearest[at] = min(nearest[at], z)
      }
    }
  }

  private static func pixels(_ positions: [Double], below end: Int) -> Range<Int> {
    let first = max((positions.min() ?? 0).rounded(.up), 0)
    let last = min((positions.max() ?? 0).rounded(.down), Double(end - 1))
    return first <= last ? Int(first)..<(Int(last) + 1) : 0..<0
  }

  private func drawPoint(_ vertex: Vertex, _ nearest: inout [Double]) {
    let (x, y) = ((vertex.u + 0.5).rounded(.down), (vertex.v + 0.5).rounded(.down))
    guard x >= 0, y >= 0, x < Double(output.pinhole.width), y < Double(output.pinhole.height) else {
      return
    }
    let at = Int(y) * output.pinhole.width + Int(x)
    nearest[at] = min(nearest[at], vertex.z)
  }

  private func drawBox(_ i: Int, _ j: Int, _ center: Vertex, _ nearest: inout [Double]) {
    guard let p = vertex(Double(i) - 0.5, Double(j) - 0.5, center.stored),
      let q = vertex(Double(i) + 0.5, Double(j) + 0.5, center.stored)
    else { return }
    for y in 0..<output.pinhole.height
    where Double(y) >= min(p.v, q.v) && Double(y) < max(p.v, q.v) {
      for x in 0..<output.pinhole.width
      where Double(x) >= min(p.u, q.u) && Double(x) < max(p.u, q.u) {
        let at = y * output.pinhole.width + x
        nearest[at] = min(nearest[at], center.z)
      }
    }
  }
}

/// A camera in double precision written apart from the code under test: the lens equation with powers,
/// its inverse by bisection on a scan of radii and damped steps with numeric derivatives.
struct ReferenceCamera {
  let pinhole: PinholeCamera
  let lens: LensDistortion
  let limit: Double

  init(_ pinhole: PinholeCamera, _ lens: LensDistortion) {
    self.pinhole = pinhole
    self.lens = lens
    limit = Self.limit(lens)
  }

  func distorted(_ x: Double, _ y: Double) -> (x: Double, y: Double) {
    let r2 = x * x + y * y
    let g =
      (1 + lens.k1 * r2 + lens.k2 * r2 * r2 + lens.k3 * r2 * r2 * r2)
      / (1 + lens.k4 * r2 + lens.k5 * r2 * r2 + lens.k6 * r2 * r2 * r2)
    return (
      x * g + 2 * lens.p1 * x * y + lens.p2 * (r2 + 2 * x * x),
      y * g + lens.p1 * (r2 + 2 * y * y) + 2 * lens.p2 * x * y
    )
  }

  /// Pixel position of a point in front of the camera and inside the lens.
  func project(_ q: [Double]) -> (u: Double, v: Double)? {
    guard q[2] > 0 else { return nil }
    let (x, y) = (q[0] / q[2], q[1] / q[2])
    guard x * x + y * y < limit * limit else { return nil }
    let (dx, dy) = distorted(x, y)
    let (u, v) = (pinhole.fx * dx + pinhole.cx, pinhole.fy * dy + pinhole.cy)
    return u.isFinite && v.isFinite ? (u, v) : nil
  }

  /// The ray of a pixel position, (x, y) at z = 1.
  func ray(_ u: Double, _ v: Double) -> (x: Double, y: Double)? {
    let (tx, ty) = ((u - pinhole.cx) / pinhole.fx, (v - pinhole.cy) / pinhole.fy)
    let goal = (tx * tx + ty * ty).squareRoot()
    // The radius by bisection without tangential terms, then steps along numeric derivatives.
    var (low, high) = (0.0, min(limit, 10))
    for _ in 0..<60 {
      let middle = (low + high) / 2
      if Self.radial(lens, middle) < goal { low = middle } else { high = middle }
    }
    let scale = goal > 0 ? low / goal : 0
    var (x, y) = (tx * scale, ty * scale)
    for _ in 0..<200 {
      let (dx, dy) = distorted(x, y)
      let (ex, ey) = (tx - dx, ty - dy)
      if abs(ex) + abs(ey) < 1e-10 { return x * x + y * y < limit * limit ? (x, y) : nil }
      let h = 1e-6
      let (ax, ay) = distorted(x + h, y)
      let (bx, by) = distorted(x, y + h)
      let (xx, yx, xy, yy) = ((ax - dx) / h, (ay - dy) / h, (bx - dx) / h, (by - dy) / h)
      let determinant = xx * yy - xy * yx
      guard determinant > 1e-9 else { return nil }
      x += 0.8 * (yy * ex - xy * ey) / determinant
      y += 0.8 * (xx * ey - yx * ex) / determinant
    }
    return nil
  }

  private static func radial(_ k: LensDistortion, _ r: Double) -> Double {
    let s = r * r
    return r * (1 + k.k1 * s + k.k2 * s * s + k.k3 * s * s * s)
      / (1 + k.k4 * s + k.k5 * s * s + k.k6 * s * s * s)
  }

  /// The first radius at which the radial map does not grow, by steps of 1/100,000.
  private static func limit(_ k: LensDistortion) -> Double {
    guard !k.isNone else { return .infinity }
    var last = 0.0
    for step in 1...1_000_000 {
      let r = Double(step) * 1e-5
      let s = r * r
      let value = radial(k, r)
      if value <= last || 1 + k.k4 * s + k.k5 * s * s + k.k6 * s * s * s <= 0 { return r }
      last = value
    }
    return .infinity
  }
}

/// A depth picture and two cameras drawn from a seed: slanted pieces with steps between them, holes,
/// speckle, and cameras with or without lenses, some far apart, turned, or on a coarser grid.
struct RandomScene {
  let calibration: DepthCalibration
  let parameters: AlignmentParameters
  let depth: DepthImage

  init(seed: UInt64, surface: AlignmentParameters.Surface = .mesh) {
    var random = SeededGenerator(seed: seed &* 0x9E37_79B9 &+ 1)
    func within(_ range: ClosedRange<Double>) -> Double { .random(in: range, using: &random) }
    let (width, height) = (
      Int.random(in: 24...60, using: &random), Int.random(in: 20...48, using: &random)
    )
    // Zoom: output pixels a depth pixel covers, below one to large triangles.
    let zoom = [0.6, 1, 2.03, 2.03, 3.4, 7.5, 14][Int.random(in: 0..<7, using: &random)]
    let focal = Double(width) * within(0.7...1.2)
    let depthCamera = PinholeCamera(
      width: width, height: height, fx: focal, fy: focal * within(0.98...1.02),
      cx: Double(width) / 2 + within(-2...2), cy: Double(height) / 2 + within(-2...2))
    let colorCamera = PinholeCamera(
      width: Int(Double(width) * zoom), height: Int(Double(height) * zoom), fx: focal * zoom,
      fy: focal * zoom * within(0.98...1.02), cx: Double(width) * zoom / 2 + within(-3...3),
      cy: Double(height) * zoom / 2 + within(-3...3))
    // Every fourth scene looks from well aside, every eighth upside down.
    let angle = seed % 4 == 3 ? 0.6 : 0.05
    let roll = seed % 8 == 5 ? 3.0 : within(-angle...angle)
    let transform = RigidTransform(
      rotation: Self.rotation(within(-angle...angle), within(-angle...angle), roll),
      translation: [within(-0.1...0.1), within(-0.1...0.1), within(-0.3...0.1)])
    let hasLenses = seed % 3 == 0
    // Every other of these the other way round: the rational lens on the depth camera.
    let isDepthRational = seed >= 60 && seed % 6 == 0
    func polynomial() -> LensDistortion {
      LensDistortion(openCVOrder: [within(-0.1...0.1), within(-0.05...0.05), 1e-3, -1e-3, 0.01])
    }
    func rational() -> LensDistortion {
      LensDistortion(openCVOrder: [
        within(-0.2...0.2), 0.05, -2e-3, 1e-3, 0.01, within(-0.1...0.1), 0.02, 0.01,
      ])
    }
    calibration = DepthCalibration(
      registered: false, colorFromDepth: transform, depthIntrinsics: depthCamera,
      colorIntrinsics: colorCamera,
      depthDistortion: hasLenses ? (isDepthRational ? rational() : polynomial()) : .none,
      colorDistortion: hasLenses ? (isDepthRational ? polynomial() : rational()) : .none)
    let grids = AlignmentParameters.Grid.allCases
    parameters = AlignmentParameters(
      surface: surface, grid: seed % 5 == 4 ? grids[Int(seed / 5) % grids.count] : .color,
      discontinuityAbsolute: seed % 7 == 6 ? 0.004 : 0.01,
      discontinuityRelative: seed % 7 == 6 ? 0.01 : 0.05)
    depth = Self.picture(width, height, &random)
  }

  private static func picture(
    _ width: Int, _ height: Int, _ random: inout SeededGenerator
  ) -> DepthImage {
    var image = DepthImage(width: width, height: height)
    // Pieces: right of and below a corner the next plane takes over.
    for _ in 0..<5 {
      let (left, top) = (
        Int.random(in: -9..<width, using: &random), Int.random(in: -9..<height, using: &random)
      )
      let start = Double.random(in: 400...4000, using: &random)
      let (a, b) = (
        Double.random(in: -12...12, using: &random), Double.random(in: -12...12, using: &random)
      )
      for j in max(top, 0)..<height {
        for i in max(left, 0)..<width {
          let z = start + a * Double(i - left) + b * Double(j - top)
          image.millimeters[j * width + i] = UInt16(min(max(z, 0), 9000))
        }
      }
    }
    for index in image.millimeters.indices {
      switch UInt8.random(in: 0...255, using: &random) {
      case 0..<6: image.millimeters[index] = 0
      case 6..<10: image.millimeters[index] = .random(in: 1...5000, using: &random)
      case 10..<120: image.millimeters[index] &+= .random(in: 0...4, using: &random)
      default: break
      }
    }
    return image
  }

  /// Turns about x, then y, then z, radians, row-major.
  static func rotation(_ x: Double, _ y: Double, _ z: Double) -> [Double] {
    func turn(_ axis: Int, _ angle: Double) -> RigidTransform {
      // Sine and cosine from a unit quaternion: half-angle by a series that is exact enough here.
      let (s, c) = sineAndCosine(angle / 2)
      return RigidTransform(
        rotation: Quaternion(
          x: axis == 0 ? s : 0, y: axis == 1 ? s : 0, z: axis == 2 ? s : 0, w: c
        ).rotation, translation: [0, 0, 0])
    }
    return (turn(2, z) * turn(1, y) * turn(0, x)).rotation
  }

  /// By their series; |angle| up to 2.
  private static func sineAndCosine(_ angle: Double) -> (Double, Double) {
    var (sine, cosine) = (0.0, 0.0)
    var term = 1.0
    for n in 0..<30 {
      switch n % 4 {
      case 0: cosine += term
      case 1: sine += term
      case 2: cosine -= term
      default: sine -= term
      }
      term *= angle / Double(n + 1)
    }
    return (sine, cosine)
  }
}
