@testable import Core
@testable import Processing
import TestSupport

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
