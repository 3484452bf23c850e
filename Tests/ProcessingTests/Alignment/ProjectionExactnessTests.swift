@testable import Core
import TestSupport
import Testing

@testable import Processing

@Suite("Tabulated projection against direct evaluation")
struct ProjectionExactnessTests {
  /// Cameras of real devices: no lens, five terms, eight rational ones.
  static let lenses: [[Double]] = [
    [], [0.0712, -0.153, 0.0011, -0.0008, 0.0561], [-0.34, 0.04],
    [
      0.5479397773742676, -0.020971370860934258, 2.0557534298859537e-05, -7.210415787994862e-05,
      -0.002652231603860855, 0.8896790742874146, 0.08613020926713943, -0.013910384848713875,
    ],
    [
      0.33012130856513977, -2.489396572113037, -0.00016178244550246745, -0.00012944525224156678,
      1.453670859336853, 0.20891207456588745, -2.302915096282959, 1.3751275539398193,
    ],
  ]

  @Test(
    "Every vertex is where double precision puts it, to 0.05 pixels", arguments: 0..<5, 0..<5)
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
