import CPlatform
import TestSupport
import Testing

@testable import Core
@testable import Processing

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

  @Test(
    "Rectangles leave no hole where their borders lie on pixel centers, as 7.5 pixels per depth pixel have it",
    arguments: [(256, 192, 1920, 1440), (192, 256, 720, 960), (256, 192, 480, 360)])
  func meetingRectangles(columns: Int, rows: Int, width: Int, height: Int) throws {
    let color = PinholeCamera(
      width: width, height: height, fx: 0.7588 * Double(width), fy: 0.7588 * Double(width),
      cx: 0.5003 * Double(width), cy: 0.4991 * Double(height))
    let frame = DepthImage(
      width: columns, height: rows,
      millimeters: (0..<columns * rows).map {
        UInt16(900 + $0 % 7 + $0 % columns * 5 + $0 / columns * 3)
      })
    let aligner = try DepthAligner(
      calibration: DepthCalibration(registered: true, colorIntrinsics: color),
      parameters: AlignmentParameters(surface: .rectangle),
      depthSize: PictureSize(width: columns, height: rows))
    let result = try aligner.aligned(frame).millimeters
    // A center on the border of two boxes belongs to that whose lower bound it is.
    let expected = (0..<width * height).map { pixel in
      let column = Int((Double(pixel % width) + 0.5) * Double(columns) / Double(width))
      let row = Int((Double(pixel / width) + 0.5) * Double(rows) / Double(height))
      return frame.millimeters[row * columns + column]
    }
    #expect(zip(result, expected).count(where: { $0 != $1 }) == 0)
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

@Suite("Tabulated projection against direct evaluation")
struct ProjectionExactnessTests {
  /// Cameras of real devices: no lens, five terms, eight rational ones. At last each term of the denominator alone.
  static let lenses: [[Double]] = [
    [], [0.0712, -0.153, 0.0011, -0.0008, 0.0561], [-0.34, 0.04],
    [
      0.5479397773742676, -0.020971370860934258, 2.0557534298859537e-05, -7.210415787994862e-05,
      -0.002652231603860855, 0.8896790742874146, 0.08613020926713943, -0.013910384848713875,
    ],
    [
      0.33012130856513977, -2.489396572113037, -0.00016178244550246745, -0.00012944525224156678,
      1.453670859336853, 0.20891207456588745, -2.302915096282959, 1.3751275539398193,
    ], [0.1, 0.02, 0, 0, 0, 0.2], [0.1, 0.02, 0, 0, 0, 0, 0.2], [0.1, 0.02, 0, 0, 0, 0, 0, 0.2],
  ]
  /// The first five with one another, and color through a denominator of one term.
  static let pairs = (0..<25).map { ($0 / 5, $0 % 5) } + (5..<8).map { (0, $0) }

  @Test(
    "Every vertex is where double precision puts it, to 0.05 pixels", arguments: pairs)
  func exactness(depthLens: Int, colorLens: Int) throws {
    for snaps in [false, true] { try compare(depthLens, colorLens, snaps: snaps) }
  }

  private func compare(_ depthLens: Int, _ colorLens: Int, snaps: Bool) throws {
    let depth = PinholeCamera(width: 640, height: 480, fx: 504.6, fy: 504.7, cx: 332.8, cy: 248.8)
    let color = PinholeCamera(
      width: 1296, height: 968, fx: 1170.2, fy: 1170.2, cx: 647.75, cy: 483.75)
    let colorFromDepth = RigidTransform(
      rotation: RandomScene.rotation(0.02, -0.13, 0.07), translation: [0.07, -0.02, 0.03])
    let depthCamera = LensCamera(
      pinhole: depth, distortion: LensDistortion(openCVOrder: Self.lenses[depthLens]))
    let colorCamera = LensCamera(
      pinhole: color, distortion: LensDistortion(openCVOrder: Self.lenses[colorLens]))
    let projector = VertexProjector(
      width: depth.width, translation: colorFromDepth.translation, color: colorCamera,
      minimumDepth: 0.001, snaps: snaps)
    let rays = RayTable(
      camera: depthCamera, rotation: colorFromDepth.rotation, columns: depth.width,
      rows: depth.height, stride: projector.stride)
    let (from, to) = (
      ReferenceCamera(depth, depthCamera.distortion), ReferenceCamera(color, colorCamera.distortion)
    )
    var random = SeededGenerator(seed: UInt64(depthLens * 5 + colorLens))
    var row = [Float](repeating: 0, count: VertexProjector.streams * projector.stride)
    var compared = 0
    for j in stride(from: 0, to: depth.height, by: 31) {
      let frame = (0..<depth.width).map { _ in UInt16.random(in: 0...9000, using: &random) }
      Self.project(
        projector, frame, rays.values,
        from: RayTable.rowLength(stride: projector.stride) * j, into: &row)
      for i in stride(from: 0, to: depth.width, by: 7) where row[2 * projector.stride + i] > 0 {
        let ray = try #require(from.ray(Double(i), Double(j)))
        let z = Double(frame[i]) / 1000
        let point = colorFromDepth.apply(to: [z * ray.x, z * ray.y, z])
        guard let pixel = to.project(point) else {
          // On the very edge of the lens single precision may fall to the other side.
          let r = ((point[0] * point[0] + point[1] * point[1]).squareRoot()) / point[2]
          #expect(abs(r - to.limit) < 1e-4)
          continue
        }
        compared += 1
        #expect(abs(Double(row[i]) - pixel.u) < 0.05, "(\(i), \(j))")
        #expect(abs(Double(row[projector.stride + i]) - pixel.v) < 0.05, "(\(i), \(j))")
        #expect(abs(1 / Double(row[2 * projector.stride + i]) - point[2] * 1000) < 0.01)
      }
    }
    #expect(compared > 500)
  }

  @Test("Depth, rays and points that are no numbers give no vertex")
  func notANumber() {
    let camera = LensCamera(
      pinhole: PinholeCamera(width: 5, height: 1, fx: 4, fy: 4, cx: 2, cy: 0))
    let projector = VertexProjector(
      width: 5, translation: [0, 0, 0], color: camera, minimumDepth: 0.001, snaps: true)
    var rays = [Float](repeating: .nan, count: RayTable.rowLength(stride: projector.stride))
    for (i, x) in [Float(0.5), .nan, .infinity, -.infinity, 0.25].enumerated() {
      let place = RayTable.place(ofColumn: i)
      rays[place] = x
      rays[place + RayTable.lanes] = 0
      rays[place + 2 * RayTable.lanes] = 1
    }
    var row = [Float](repeating: -1, count: VertexProjector.streams * projector.stride)
    Self.project(projector, [1000, 1000, 1000, 1000, 0], rays, from: 0, into: &row)
    let w = row[(2 * projector.stride)..<(2 * projector.stride + 5)].map { $0 > 0 }
    #expect(w == [true, false, false, false, false])
  }

  private static func project(
    _ projector: VertexProjector, _ frame: [UInt16], _ rays: [Float], from start: Int,
    into row: inout [Float]
  ) {
    frame.withUnsafeBufferPointer { frame in
      rays.withUnsafeBufferPointer { rays in
        row.withUnsafeMutableBufferPointer { row in
          guard let frame = frame.baseAddress, let rays = rays.baseAddress,
            let row = row.baseAddress
          else { return }
          projector.project(depth: frame, rays: rays + start, into: row)
        }
      }
    }
  }
}

@Suite("The loops of aligned depth, with wide vectors and without")
struct DepthLoopsTests {
  @Test("Every depth keeps its millimeters; halves round up, no value and out of range give none")
  func millimeters() {
    var inverses: [Float] = [0, 1 / 65535.75, 1e-30, .infinity, 3]
    var expected: [UInt16] = [0, 0, 0, 0, 0]
    for millimeters in 1...UInt16.max {
      inverses.append(1 / Float(millimeters))
      expected.append(millimeters)
    }
    for millimeters in UInt16(1)...4096 {
      inverses.append(1 / (Float(millimeters) - 0.5))
      inverses.append(1 / (Float(millimeters) - 0.51))
      expected += [millimeters, millimeters - 1]
    }
    for isWide in [false, scanmill_gray_has_wide()] {
      var result = [UInt16](repeating: 1, count: inverses.count + 1)
      scanmill_millimeters(isWide, inverses, Int64(inverses.count), &result)
      #expect(result == expected + [1])
    }
  }

  @Test(
    "Quads give the same pixels with both, and none outside their columns and the picture's rows")
  func quads() {
    var random = SeededGenerator(seed: 46)
    let (width, rows, stride) = (40, 30, 48)
    for _ in 0..<200 {
      var quads = (0..<76).map { _ in Float.random(in: -2...2, using: &random) }
      for value in 48..<76 { quads[value] = abs(quads[value]) }
      let corners = (0..<8).map { _ in Float(Int.random(in: -9...40, using: &random)) }
      let sizes = (0..<8).map { _ in Float.random(in: 0...20, using: &random) }
      let boxes = corners + zip(corners, sizes).map { $0 + $1 }
      let before = (0..<stride * (rows + 4)).map { _ in Float.random(in: 0...1, using: &random) }
      var drawn: [[Float]] = []
      for isWide in [false, scanmill_gray_has_wide()] {
        var picture = before
        picture.withUnsafeMutableBufferPointer { picture in
          var target = scanmill_target(
            origin: picture.baseAddress.map { $0 + 2 * stride + 2 }, stride: Int64(stride),
            width: Int64(width), first_row: 4, end_row: Int64(4 + rows))
          scanmill_draw_quads(isWide, quads, boxes, &target)
        }
        drawn.append(picture)
      }
      #expect(drawn[0] == drawn[1])
      for (place, value) in drawn[0].enumerated() where value != before[place] {
        let (row, column) = (place / stride + 2, Float(place % stride - 2))
        #expect(value > before[place] && (4..<4 + rows).contains(row))
        #expect(
          (0..<4).contains { lane in
            boxes[lane] <= column && column <= boxes[8 + lane] + 3
              && Float(row) >= boxes[4 + lane] && Float(row) <= boxes[12 + lane]
          })
      }
    }
  }
}
