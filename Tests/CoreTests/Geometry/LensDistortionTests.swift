import TestSupport
import Testing

@testable import Core

@Suite("Lens distortion")
struct LensDistortionTests {
  /// The lens equation written out with powers, apart from the code under test.
  static func direct(_ k: LensDistortion, _ x: Double, _ y: Double) -> (x: Double, y: Double) {
    let r = (x * x + y * y).squareRoot()
    let r2 = r * r
    let r4 = r2 * r2
    let r6 = r4 * r2
    let g = (1 + k.k1 * r2 + k.k2 * r4 + k.k3 * r6) / (1 + k.k4 * r2 + k.k5 * r4 + k.k6 * r6)
    return (
      x * g + 2 * k.p1 * x * y + k.p2 * (r2 + 2 * x * x),
      y * g + k.p1 * (r2 + 2 * y * y) + 2 * k.p2 * x * y
    )
  }

  @Test("A point lands where the lens equation says")
  func matchesTheEquation() {
    var generator = SeededGenerator(seed: 1)
    for camera in LensExamples.all {
      for _ in 0..<200 {
        let x = Double.random(in: -1...1, using: &generator)
        let y = Double.random(in: -1...1, using: &generator)
        let expected = Self.direct(camera.distortion, x, y)
        let found = camera.distortion.distorted(x: x, y: y)
        #expect(abs(found.x - expected.x) < 1e-12)
        #expect(abs(found.y - expected.y) < 1e-12)
      }
    }
  }

  @Test("Coefficients in OpenCV's order land on their own terms")
  func openCVOrder() {
    // One coefficient at a time at (0.5, 0.25): r² = 0.3125.
    let expected: [(Double, Double)] = [
      (0.5 * 0.3125, 0.25 * 0.3125),  // k1
      (0.5 * 0.09765625, 0.25 * 0.09765625),  // k2
      (0.25, 0.3125 + 0.125),  // p1
      (0.3125 + 0.5, 0.25),  // p2
      (0.5 * 0.030517578125, 0.25 * 0.030517578125),  // k3
      (0.5 / 1.3125 - 0.5, 0.25 / 1.3125 - 0.25),  // k4
      (0.5 / 1.09765625 - 0.5, 0.25 / 1.09765625 - 0.25),  // k5
      (0.5 / 1.030517578125 - 0.5, 0.25 / 1.030517578125 - 0.25),  // k6
    ]
    for (index, shift) in expected.enumerated() {
      var list = [Double](repeating: 0, count: 8)
      list[index] = 1
      let found = LensDistortion(openCVOrder: list).distorted(x: 0.5, y: 0.25)
      #expect(abs(found.x - 0.5 - shift.0) < 1e-15, "coefficient \(index)")
      #expect(abs(found.y - 0.25 - shift.1) < 1e-15, "coefficient \(index)")
    }
  }

  @Test("A camera without lens terms projects like a pinhole")
  func pinhole() throws {
    let camera = LensExamples.pinhole
    let pixel = try #require(camera.projection(x: 0.4, y: -0.2, z: 2))
    #expect(abs(pixel.u - (577.87 * 0.2 + 319.5)) < 1e-12)
    #expect(abs(pixel.v - (577.87 * -0.1 + 239.5)) < 1e-12)
    #expect(camera.radiusLimit == .infinity)
  }

  @Test("What is not in front of the camera has no projection")
  func behind() {
    let camera = LensExamples.pinhole
    #expect(camera.projection(x: 0.1, y: 0.1, z: -2) == nil)
    #expect(camera.projection(x: 0.1, y: 0.1, z: 0) == nil)
    #expect(camera.projection(x: 0.1, y: 0.1, z: .nan) == nil)
    #expect(camera.projection(x: .nan, y: 0.1, z: 1) == nil)
  }

  @Test("A point beyond the radius limit is not folded back into the picture")
  func foldedPoint() {
    let camera = LensExamples.folding
    // At r = 2.4 the polynomial comes back to r g = -1.04 …, well inside the picture's range.
    #expect(camera.projection(x: 2.4, y: 0, z: 1) == nil)
    #expect(camera.projection(x: 1.14, y: 0, z: 1) != nil)
    #expect(camera.projection(x: 1.16, y: 0, z: 1) == nil)
  }
}

@Suite("Back-projection through a lens")
struct LensBackProjectionTests {
  @Test("Every pixel's ray projects back onto the pixel", arguments: LensExamples.all)
  func roundTrip(camera: LensCamera) {
    var rays = 0
    let size = camera.pinhole
    for j in stride(from: 0, to: size.height, by: 3) {
      for i in stride(from: 0, to: size.width, by: 3) {
        guard let ray = camera.ray(u: Double(i), v: Double(j)) else { continue }
        rays += 1
        guard let pixel = camera.projection(x: ray.x, y: ray.y, z: 1) else {
          Issue.record("the ray of (\(i), \(j)) is outside the camera")
          continue
        }
        #expect(abs(pixel.u - Double(i)) < 2e-5)
        #expect(abs(pixel.v - Double(j)) < 2e-5)
      }
    }
    // Every one of these lenses sees more than 95 % of its own picture.
    #expect(rays > (size.width / 3) * (size.height / 3) * 95 / 100)
  }

  @Test("A position the lens never reaches has no ray")
  func beyondTheLens() {
    // The map of this lens tops out at r g = 1.150754 (1 − 0.34 s + 0.04 s²) = 0.713.
    let camera = LensExamples.folding
    #expect(camera.ray(u: 160.8 + 243 * 0.70, v: 121.6) != nil)
    #expect(camera.ray(u: 160.8 + 243 * 0.72, v: 121.6) == nil)
    #expect(camera.ray(u: .nan, v: 0) == nil)
  }

  @Test("A solution just inside the radius limit is found")
  func closeToTheLimit() throws {
    let lens = LensExamples.folding.distortion
    let limit = lens.radiusLimit
    for share in [0.9, 0.99, 0.999] {
      let target = lens.distorted(x: share * limit * 0.6, y: share * limit * 0.8)
      let found = try #require(
        lens.undistorted(distortedX: target.x, distortedY: target.y, radiusLimit: limit))
      let radius = (found.x * found.x + found.y * found.y).squareRoot()
      #expect(abs(radius - share * limit) < 2e-4)
      #expect(radius < limit)
    }
  }
}

@Suite("Radius limit of a lens")
struct LensRadiusLimitTests {
  @Test(
    "Known lenses end where their map stops growing",
    arguments: [
      ([], Double.infinity),
      ([0.1, 0.05], .infinity),
      // 1 − 1.02 s + 0.2 s² = 0
      ([-0.34, 0.04], 1.150754),
      // 1 − 3 s / 4 = 0
      ([-0.25], (4.0 / 3).squareRoot()),
      // The denominator 1 − s / 4 vanishes at r = 2; up to there the map grows.
      ([0, 0, 0, 0, 0, -0.25], 2),
      // r / (1 + s) has its top at r = 1.
      ([0, 0, 0, 0, 0, 1], 1),
      // The map turns at r = 11.5, beyond what is searched.
      ([-1 / 397.0], .infinity),
      // Tangential terms do not matter.
      ([-0.25, 0, 0.1, 0.1], (4.0 / 3).squareRoot()),
    ] as [([Double], Double)])
  func known(list: [Double], limit: Double) {
    let found = LensDistortion(openCVOrder: list).radiusLimit
    if limit.isInfinite { #expect(found == limit) } else { #expect(abs(found - limit) < 1e-6) }
  }

  @Test("The limit is where a fine scan sees the map fall, for lenses drawn at random")
  func againstScan() {
    var generator = SeededGenerator(seed: 7)
    var limited = 0
    for _ in 0..<200 {
      let list = (0..<8).map { _ in Double.random(in: -0.4...0.4, using: &generator) }
      let lens = LensDistortion(openCVOrder: list)
      let scanned = Self.scan(lens)
      let found = lens.radiusLimit
      if scanned.isInfinite {
        #expect(found.isInfinite)
      } else {
        limited += 1
        #expect(abs(found - scanned) < 3e-3, "\(list)")
      }
    }
    #expect(limited > 100)
  }

  /// First step of 0.001 at which r g does not grow or the denominator is not positive.
  private static func scan(_ k: LensDistortion) -> Double {
    var last = 0.0
    for step in 1...10_000 {
      let r = Double(step) * 1e-3
      let s = r * r
      let d = 1 + k.k4 * s + k.k5 * s * s + k.k6 * s * s * s
      let value = r * (1 + k.k1 * s + k.k2 * s * s + k.k3 * s * s * s) / d
      if d <= 0 || value <= last { return r }
      last = value
    }
    return .infinity
  }
}

/// Lenses of real devices and shapes that are hard on a solver, with a camera each.
enum LensExamples {
  static let azureDepth = camera(
    width: 640, height: 576, fx: 504.6076, fy: 504.7325, cx: 332.7811, cy: 348.8297,
    [
      0.5479397773742676, -0.020971370860934258, 2.0557534298859537e-05, -7.210415787994862e-05,
      -0.002652231603860855, 0.8896790742874146, 0.08613020926713943, -0.013910384848713875,
    ])
  static let azureColor = camera(
    width: 1280, height: 720, fx: 611.7953, fy: 611.9270, cx: 639.3043, cy: 365.8529,
    [
      0.33012130856513977, -2.489396572113037, -0.00016178244550246745, -0.00012944525224156678,
      1.453670859336853, 0.20891207456588745, -2.302915096282959, 1.3751275539398193,
    ])
  static let structureColor = camera(
    width: 1296, height: 968, fx: 1170.188, fy: 1170.188, cx: 647.75, cy: 483.75,
    [0.0712, -0.153, 0.0011, -0.0008, 0.0561])
  static let barrel = camera(
    width: 640, height: 480, fx: 285.7, fy: 285.7, cx: 319.5, cy: 239.5,
    [-0.09, 0.11, 6e-4, -4e-4, -0.03])
  static let folding = camera(
    width: 324, height: 242, fx: 243, fy: 243.243, cx: 160.8, cy: 121.6, [-0.34, 0.04])
  static let pinhole = camera(
    width: 640, height: 480, fx: 577.87, fy: 577.87, cx: 319.5, cy: 239.5, [])

  static let all = [azureDepth, azureColor, structureColor, barrel, folding, pinhole]

  private static func camera(
    width: Int, height: Int, fx: Double, fy: Double, cx: Double, cy: Double, _ lens: [Double]
  ) -> LensCamera {
    LensCamera(
      pinhole: PinholeCamera(width: width, height: height, fx: fx, fy: fy, cx: cx, cy: cy),
      distortion: LensDistortion(openCVOrder: lens))
  }
}

@Suite("Distances corrected by a laboratory's table")
struct DepthDistortionTableTests {
  private static func table(
    _ columns: Int, _ rows: Int, _ slices: Int, _ distance: Float,
    _ value: (Int, Int, Int) -> Float
  ) throws -> DepthDistortionTable {
    var values: [Float] = []
    for z in 0..<slices {
      for y in 0..<rows { for x in 0..<columns { values.append(value(x, y, z)) } }
    }
    return try #require(
      DepthDistortionTable(
        columns: columns, rows: rows, slices: slices, maximumDistance: distance, values: values))
  }

  /// The page in double precision, by its eight neighbors.
  private static func corrected(
    _ millimeters: UInt16, _ i: Int, _ j: Int, _ size: (Int, Int), _ cells: (Int, Int, Int),
    _ distance: Double, _ value: (Int, Int, Int) -> Float
  ) -> Double {
    func axis(_ position: Double, _ count: Int) -> [(Int, Double)] {
      let clamped = min(position, Double(count - 1))
      let first = Int(clamped)
      return [
        (first, 1 - clamped + Double(first)), (min(first + 1, count - 1), clamped - Double(first)),
      ]
    }
    let z = Double(millimeters) / 1000 * Double(cells.2) / distance
    var sum = 0.0
    for (x, a) in axis(Double(i) / Double(size.0 / cells.0), cells.0) {
      for (y, b) in axis(Double(j) / Double(size.1 / cells.1), cells.1) {
        for (s, c) in axis(z, cells.2) { sum += a * b * c * Double(value(x, y, s)) }
      }
    }
    return Double(millimeters) / sum
  }

  @Test(
    "A distance is divided by the value between the eight cells around it, also where cells do not divide the picture",
    arguments: [(12, 9), (13, 11), (4, 3)])
  func values(_ width: Int, _ height: Int) throws {
    func value(_ x: Int, _ y: Int, _ z: Int) -> Float {
      1 + 0.01 * Float(x) - 0.02 * Float(y) + 0.03 * Float(z) + 0.004 * Float(x * z)
    }
    let table = try Self.table(4, 3, 5, 5, value)
    var random = SeededGenerator(seed: 8)
    let depth = (0..<(width * height)).map { index in
      index % 7 == 0 ? UInt16(0) : UInt16.random(in: 1...9000, using: &random)
    }
    var found = depth
    #expect(table.correct(&found, width: width, height: height) == 0)
    for index in depth.indices {
      guard depth[index] != 0 else {
        #expect(found[index] == 0)
        continue
      }
      let wanted = Self.corrected(
        depth[index], index % width, index / width, (width, height), (4, 3, 5), 5, value)
      #expect(Double(found[index]) == wanted.rounded())
    }
  }

  @Test(
    "A pixel near a cell without possible value is lost and counted, others are not",
    arguments: [Float.nan, .infinity, 0, -1, -321, 0.49, 2.01])
  func unknown(_ odd: Float) throws {
    let table = try Self.table(3, 1, 1, 5) { x, _, _ in x == 2 ? odd : 1.25 }
    #expect(table.unknownCells == 1)
    var depth = [UInt16](repeating: 1000, count: 6)
    depth[5] = 0
    // Cells of two pixels: 0 and 1 lie at cells 0 and 0.5, 2 at 1; 3 at 1.5 touches cell 2.
    #expect(table.correct(&depth, width: 6, height: 1) == 2)
    #expect(depth == [800, 800, 800, 0, 0, 0])
  }

  /// A sensor that bends walls: measured / true distance by pixel and measured distance.
  private static func bend(_ i: Double, _ j: Double, _ meters: Double) -> Double {
    let (x, y) = ((i - 80) / 80, (j - 60) / 60)
    return 1 + meters / 5 * (0.02 * x * x - 0.015 * y * y + 0.01 * x) + 0.004 * meters / 5
  }

  @Test(
    "A flat wall that the sensor bends is flat to 1 mm after the correction",
    arguments: [600, 1500, 2500, 4000])
  func wall(_ distance: Double) throws {
    let (width, height, slices) = (160, 120, 25)
    // Cells of 2 pixels; the value of a cell is that at its first pixel and the start of its slice.
    let table = try Self.table(80, 60, slices, 5) { x, y, z in
      Float(Self.bend(Double(2 * x), Double(2 * y), Double(z) * 5 / Double(slices)))
    }
    var depth: [UInt16] = []
    for j in 0..<height {
      for i in 0..<width {
        var measured = distance
        for _ in 0..<20 { measured = distance * Self.bend(Double(i), Double(j), measured / 1000) }
        depth.append(UInt16(measured.rounded()))
      }
    }
    let bent = depth.map { abs(Double($0) - distance) }.max() ?? 0
    #expect(bent > (distance > 2000 ? 20 : 1), "the wall is bent: \(bent) mm")
    #expect(table.correct(&depth, width: width, height: height) == 0)
    // The last pixel of the picture lies beyond the last cell.
    for index in depth.indices where index % width < width - 1 && index / width < height - 1 {
      #expect(abs(Double(depth[index]) - distance) <= 1)
    }
  }

  @Test("Nothing is changed where a table does not fit, and impossible tables are none")
  func impossible() throws {
    let table = try Self.table(4, 1, 1, 5) { _, _, _ in 2 }
    var depth: [UInt16] = [10, 20, 30]
    #expect(!table.fits(width: 3, height: 1) && table.correct(&depth, width: 3, height: 1) == 0)
    #expect(depth == [10, 20, 30])
    var far: [UInt16] = [60_000]
    let half = try Self.table(1, 1, 1, 5) { _, _, _ in 0.5 }
    #expect(
      half.correct(&far, width: 1, height: 1) == 1 && far == [0], "above 65,535 there is no value")
    for (columns, rows, slices, distance, count) in [
      (0, 1, 1, 5, 0), (1, 1, 1, 0, 1), (1, 1, 1, -1, 1), (1, 1, 1, Float.nan, 1), (2, 1, 1, 5, 1),
      (4097, 1, 1, 5, 4097),
    ] as [(Int, Int, Int, Float, Int)] {
      #expect(
        DepthDistortionTable(
          columns: columns, rows: rows, slices: slices, maximumDistance: distance,
          values: [Float](repeating: 1, count: count)) == nil)
    }
  }
}
