@testable import Core
@testable import Processing
import Testing

@Suite("Aligned depth at the edges of what is possible")
struct AlignmentEdgeTests {
  typealias Known = AlignmentGeometryTests

  static func forward(_ meters: Double) -> RigidTransform {
    RigidTransform(rotation: RigidTransform.identity.rotation, translation: [0, 0, meters])
  }

  @Test(
    "What is behind the color camera or nearer than the minimum gives nothing",
    arguments: AlignmentParameters.Surface.allCases)
  func behind(surface: AlignmentParameters.Surface) throws {
    for (shift, isSeen) in [(-1.5, false), (-1.0, false), (-0.9995, false), (-0.99, true)] {
      let aligner = try DepthAligner(
        calibration: Known.calibration(Self.forward(shift)),
        parameters: AlignmentParameters(surface: surface))
      let values = Set(try aligner.aligned(Known.plane(1000)).millimeters)
      #expect(values.subtracting([0]).isEmpty != isSeen, "shift \(shift)")
    }
  }

  @Test(
    "Results below 1 or above 65,535 are written as 0",
    arguments: [
      (65_535, 0.0, 65_535), (65_535, 0.0004, 65_535), (65_535, 0.0006, 0), (65_000, 1, 0),
      (1, 0, 1), (2, -0.0014, 1), (2, -0.0016, 0),
    ] as [(UInt16, Double, UInt16)])
  func range(z: UInt16, shift: Double, expected: UInt16) throws {
    let aligner = try DepthAligner(
      calibration: Known.calibration(Self.forward(shift)),
      parameters: AlignmentParameters(surface: .points, minimumDepth: 1e-5))
    let values = Set(try aligner.aligned(Known.plane(z)).millimeters)
    #expect(values.subtracting([0]) == (expected == 0 ? [] : [expected]))
  }

  @Test("An empty frame gives an all-zero picture, and nothing of the frame before is left")
  func empty() throws {
    var scratch = AlignmentScratch()
    var output: [UInt16] = []
    for surface in AlignmentParameters.Surface.allCases {
      let aligner = try DepthAligner(
        calibration: Known.calibration(Self.forward(0.02)),
        parameters: AlignmentParameters(surface: surface))
      try aligner.align(Known.relief().millimeters, scratch: &scratch, into: &output)
      #expect(output.contains { $0 > 0 })
      try aligner.align(Known.plane(0).millimeters, scratch: &scratch, into: &output)
      #expect(output.allSatisfy { $0 == 0 })
      #expect(output.count == Known.colorCamera.width * Known.colorCamera.height)
    }
  }

  @Test("Isolated pixels and lines one pixel wide give nothing; a patch of three one triangle")
  func isolated() throws {
    let aligner = try DepthAligner(calibration: Known.calibration(Self.forward(0.02)))
    var frame = Known.plane(0)
    frame.millimeters[20 * 64 + 20] = 1000
    for i in 30..<50 { frame.millimeters[30 * 64 + i] = 1000 }
    #expect(try aligner.aligned(frame).millimeters.allSatisfy { $0 == 0 })
    for missing in [0, 1, 64, 65] {
      frame = Known.plane(0)
      for corner in [0, 1, 64, 65] where corner != missing {
        frame.millimeters[20 * 64 + 20 + corner] = 1000
      }
      let values = try aligner.aligned(frame).millimeters.filter { $0 > 0 }
      // Half of a quad of about 2 by 2 pixels.
      #expect((1...4).contains(values.count))
      #expect(Set(values) == [1020])
    }
  }

  @Test("A triangle is kept when its depths differ by exactly the threshold, and cut one beyond")
  func threshold() throws {
    for (near, step, isKept) in [
      (1000, 60, true), (1000, 61, false), (200, 20, true), (200, 21, false), (4000, 210, true),
      (4000, 211, false), (9860, 503, true), (9860, 504, false),
    ] as [(UInt16, UInt16, Bool)] {
      let aligner = try DepthAligner(calibration: Known.calibration(Self.forward(0.02)))
      var frame = Known.plane(near)
      for index in frame.millimeters.indices where index % 64 >= 32 {
        frame.millimeters[index] += step
      }
      let row = try aligner.aligned(frame).millimeters[(49 * 130)..<(50 * 130)]
      let values = row.drop { $0 == 0 }.reversed().drop { $0 == 0 }
      #expect(values.contains(0) != isKept, "\(near) + \(step)")
    }
  }

  @Test("The far surface never shows through the near one")
  func occlusion() throws {
    // A color camera far to the left sees the near board over the far wall.
    let transform = RigidTransform(
      rotation: RigidTransform.identity.rotation, translation: [0.3, 0, 0])
    var frame = Known.plane(3000)
    for j in 10..<38 {
      for i in 20..<40 { frame.millimeters[j * 64 + i] = 1000 }
    }
    let aligned = try DepthAligner(calibration: Known.calibration(transform)).aligned(frame)
    // The board's projection, well inside its outline.
    let left = (21 - 31.2) / 58.3 * 117.4 + 0.3 * 117.4 + 65.3
    let right = (38 - 31.2) / 58.3 * 117.4 + 0.3 * 117.4 + 65.3
    for x in Int(left) + 1..<Int(right) { #expect(aligned.millimeters[49 * 130 + x] == 1000) }
  }

  @Test("Frames of another size are refused")
  func frameSize() throws {
    let aligner = try DepthAligner(calibration: Known.calibration())
    var scratch = AlignmentScratch()
    var output: [UInt16] = []
    for count in [0, 1, 64 * 48 - 1, 64 * 48 + 1] {
      #expect(
        throws: AlignmentError.frameSize(
          pixels: count, expected: PictureSize(width: 64, height: 48))
      ) {
        try aligner.align(Array(repeating: 1000, count: count), scratch: &scratch, into: &output)
      }
    }
  }

  @Test("Cameras of one pixel, one row or one column are no trouble")
  func tiny() throws {
    for (width, height) in [(1, 1), (1, 9), (9, 1), (2, 2), (5, 3)] {
      let depth = PinholeCamera(width: width, height: height, fx: 10, fy: 10, cx: 0, cy: 0)
      for surface in AlignmentParameters.Surface.allCases {
        for color in [depth.scaled(toWidth: 1, height: 1), depth.scaled(toWidth: 17, height: 13)] {
          let aligner = try DepthAligner(
            calibration: Known.calibration(Self.forward(0.01), depth: depth, color: color),
            parameters: AlignmentParameters(surface: surface))
          let output = try aligner.aligned(Known.plane(1000, depth))
          #expect(Set(output.millimeters).isSubset(of: [0, 1010]))
        }
      }
    }
  }

  @Test("A surface through the color camera's place makes huge triangles, which are drawn")
  func huge() throws {
    // Floor under the camera, seen from just above it: quads reach from the feet to far beyond.
    let transform = RigidTransform(
      rotation: RandomScene.rotation(0, 0, 0), translation: [0, -0.0005, -0.998])
    var calibration = Known.calibration(transform)
    calibration.colorIntrinsics = Known.colorCamera.scaled(toWidth: 1300, height: 980)
    let aligner = try DepthAligner(
      calibration: calibration, parameters: AlignmentParameters(minimumDepth: 0.001))
    let output = try aligner.aligned(Known.plane(1000))
    #expect(Set(output.millimeters).isSubset(of: [0, 2]))
    #expect(output.millimeters.count(where: { $0 == 2 }) > 1_000_000)
  }
}
