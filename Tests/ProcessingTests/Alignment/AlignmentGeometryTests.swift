@testable import Core
@testable import Processing
import TestSupport
import Testing

@Suite("Aligned depth where the answer is known")
struct AlignmentGeometryTests {
  static let depthCamera = PinholeCamera(
    width: 64, height: 48, fx: 58.3, fy: 57.9, cx: 31.2, cy: 24.1)
  static let colorCamera = PinholeCamera(
    width: 130, height: 98, fx: 117.4, fy: 117.1, cx: 65.3, cy: 47.7)

  static func calibration(
    _ transform: RigidTransform = .identity, depth: PinholeCamera = depthCamera,
    color: PinholeCamera = colorCamera
  ) -> DepthCalibration {
    DepthCalibration(
      registered: false, colorFromDepth: transform, depthIntrinsics: depth, colorIntrinsics: color)
  }

  static func plane(_ z: UInt16, _ camera: PinholeCamera = depthCamera) -> DepthImage {
    DepthImage(
      width: camera.width, height: camera.height,
      millimeters: Array(repeating: z, count: camera.width * camera.height))
  }

  /// Bumpy, with a hole and a step.
  static func relief(_ camera: PinholeCamera = depthCamera) -> DepthImage {
    var image = plane(0, camera)
    for j in 0..<image.height {
      for i in 0..<image.width {
        let z = 1200 + 7 * i + 5 * j + (i * j) % 11 + (i > 40 ? 600 : 0)
        image.millimeters[j * image.width + i] = (8..<14).contains(i) && j == 9 ? 0 : UInt16(z)
      }
    }
    return image
  }

  @Test(
    "A plane facing both cameras is z + t_z everywhere, ties rounded up",
    arguments: AlignmentParameters.Surface.allCases, [0, 0.021, -0.35, 0.0205, 0.0004])
  func frontoParallel(surface: AlignmentParameters.Surface, forward: Double) throws {
    let transform = RigidTransform(
      rotation: RigidTransform.identity.rotation, translation: [0.031, -0.02, forward])
    let aligner = try DepthAligner(
      calibration: Self.calibration(transform), parameters: AlignmentParameters(surface: surface))
    for z in [UInt16(700), 1500, 3001, 9000] {
      let expected = UInt16((Double(z) + forward * 1000 + 0.5 + 1e-9).rounded(.down))
      let values = Set(try aligner.aligned(Self.plane(z)).millimeters)
      #expect(values.isSubset(of: [0, expected]))
      #expect(values.contains(expected))
    }
  }

  @Test("Between equal cameras points give the frame back, and the mesh wherever it has a triangle")
  func identity() throws {
    let frame = Self.relief()
    // A lens that does nothing visible keeps the frame from being copied.
    var calibration = Self.calibration(color: Self.depthCamera)
    calibration.colorDistortion.k3 = 1e-12
    let points = try DepthAligner(
      calibration: calibration, parameters: AlignmentParameters(surface: .points))
    #expect(try points.aligned(frame) == frame)
    let mesh = try DepthAligner(calibration: calibration).aligned(frame)
    for (index, value) in mesh.millimeters.enumerated() where value != frame.millimeters[index] {
      #expect(value == 0)
    }
    #expect(mesh.millimeters.count(where: { $0 > 0 }) > frame.millimeters.count * 98 / 100)
  }

  @Test("The frame is copied, isolated pixels included, when the output grid is the depth camera")
  func copied() throws {
    var frame = Self.plane(0)
    frame.millimeters[500] = 1234
    frame.millimeters[2000] = 65_535
    let shared = DepthCalibration(registered: true, colorIntrinsics: Self.colorCamera)
    let size = PictureSize(width: frame.width, height: frame.height)
    let aligner = try DepthAligner(
      calibration: shared, parameters: AlignmentParameters(grid: .depth), depthSize: size)
    #expect(try aligner.aligned(frame) == frame)
    let stated = try DepthAligner(calibration: Self.calibration(color: Self.depthCamera))
    #expect(try stated.aligned(frame) == frame)
  }

  @Test("With both pictures upside down the output is upside down")
  func upsideDown() throws {
    let transform = RigidTransform(
      rotation: RandomScene.rotation(0.03, -0.05, 0.02), translation: [0.05, -0.01, 0.02])
    let halfTurn = RigidTransform(rotation: [-1, 0, 0, 0, -1, 0, 0, 0, 1], translation: [0, 0, 0])
    let frame = Self.relief()
    let upright = try DepthAligner(calibration: Self.calibration(transform)).aligned(frame)
    let turned = try DepthAligner(
      calibration: Self.calibration(
        halfTurn * transform * halfTurn,
        depth: Self.depthCamera.turnedClockwise(quarterTurns: 2),
        color: Self.colorCamera.turnedClockwise(quarterTurns: 2))
    ).aligned(
      DepthImage(
        width: frame.width, height: frame.height, millimeters: frame.millimeters.reversed()))
    let back = DepthImage(
      width: turned.width, height: turned.height, millimeters: turned.millimeters.reversed())
    let result = PictureComparison(upright, back)
    #expect(result.within1mm == 1)
    #expect(result.differentCoverage < 20)
  }

  @Test(
    "On a plane, a value of half the grid lies between the four around it", arguments: [0, 1, 2])
  func halfGrid(tilt: Int) throws {
    let transform = RigidTransform(
      rotation: RandomScene.rotation(0.02, 0.04, -0.03), translation: [0.04, 0.01, -0.03])
    var frame = Self.plane(0)
    for index in frame.millimeters.indices {
      frame.millimeters[index] = UInt16(2000 + tilt * 9 * (index % frame.width))
    }
    let full = try DepthAligner(calibration: Self.calibration(transform)).aligned(frame)
    let half = try DepthAligner(
      calibration: Self.calibration(transform), parameters: AlignmentParameters(grid: .halfColor)
    ).aligned(frame)
    #expect(half.width == full.width / 2 && half.height == full.height / 2)
    var compared = 0
    for y in 0..<half.height {
      for x in 0..<half.width {
        let value = half.millimeters[y * half.width + x]
        let around = [0, 1, full.width, full.width + 1].map {
          full.millimeters[2 * y * full.width + 2 * x + $0]
        }
        guard value > 0, !around.contains(0) else { continue }
        compared += 1
        #expect(value >= (around.min() ?? 0) - 1 && value <= (around.max() ?? 0) + 1)
      }
    }
    #expect(compared > half.width * half.height * 8 / 10)
  }

  @Test("The result is turned by the quarter turns of the color picture", arguments: 0..<5)
  func quarterTurns(turns: Int) throws {
    let frame = Self.relief()
    let transform = RigidTransform(
      rotation: RandomScene.rotation(0.01, -0.02, 0.05), translation: [0.03, 0.01, 0])
    let calibration = Self.calibration(transform)
    let upright = try DepthAligner(calibration: calibration).aligned(frame)
    let aligner = try DepthAligner(calibration: calibration, clockwiseQuarterTurns: turns)
    let turned = try aligner.aligned(frame)
    #expect(aligner.outputIntrinsics == Self.colorCamera.turnedClockwise(quarterTurns: turns))
    for y in 0..<upright.height {
      for x in 0..<upright.width {
        var (u, v, w, h) = (x, y, upright.width, upright.height)
        for _ in 0..<turns % 4 { (u, v, w, h) = (h - 1 - v, u, h, w) }
        #expect(
          turned.millimeters[v * turned.width + u] == upright.millimeters[y * upright.width + x])
      }
    }
  }
}
