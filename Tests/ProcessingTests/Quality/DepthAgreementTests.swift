@testable import Core
@testable import Processing
import Testing

@Suite("Depth of neighboring frames compared by their poses")
struct DepthAgreementTests {
  private static let camera = PinholeCamera(
    width: 64, height: 48, fx: 50, fy: 50, cx: 31.5, cy: 23.5)
  private static let colorFromDepth = RigidTransform(
    rotation: RandomScene.rotation(0.02, -0.03, 0.01), translation: [0.05, -0.01, 0.02])

  private func agreement() throws -> DepthAgreement {
    try DepthAgreement(
      calibration: DepthCalibration(
        registered: false, colorFromDepth: Self.colorFromDepth, depthIntrinsics: Self.camera,
        colorIntrinsics: PinholeCamera(
          width: 128, height: 96, fx: 100, fy: 100, cx: 63.5, cy: 47.5)),
      depthSize: PictureSize(width: 64, height: 48), colorSize: nil)
  }

  /// The wall z = 3 m of the world, as the depth camera of a color camera at `pose` measures it.
  private func wall(at pose: Pose, error: Double = 0) -> [UInt16] {
    let worldFromDepth = pose.worldFromCamera * Self.colorFromDepth
    var frame: [UInt16] = []
    for row in 0..<48 {
      for column in 0..<64 {
        let ray = [
          (Double(column) - Self.camera.cx) / Self.camera.fx,
          (Double(row) - Self.camera.cy) / Self.camera.fy, 1,
        ]
        let end = worldFromDepth.apply(to: ray)
        let start = worldFromDepth.translation
        let z = (3 - start[2]) / (end[2] - start[2])
        frame.append(UInt16((z * 1000 + error).rounded()))
      }
    }
    return frame
  }

  private func pose(_ x: Double, _ y: Double, _ z: Double, turned angle: Double) -> Pose {
    Pose(
      position: [x, y, z],
      orientation: Quaternion(rotation: RandomScene.rotation(angle, -angle, angle / 2)))
  }

  @Test("A wall seen from two places agrees to the millimeter of its storage")
  func wall() throws {
    let (first, second) = (pose(0, 0, 0, turned: 0), pose(0.1, -0.05, 0.2, turned: 0.05))
    let result = try #require(
      try agreement().compare(
        wall(at: second).span, at: second, with: wall(at: first).span, at: first))
    // Both are rounded to millimeters, and a pixel beside the exact place is half a pixel away.
    #expect(result.medianMillimeters < 3)
    #expect(result.ninthDecileMillimeters < 8)
    #expect(result.medianPermille < 1)
    #expect(result.count > 1000)
  }

  @Test("An error of depth or of the pose along the axis is found in full", arguments: [20, 100])
  func errors(millimeters: Double) throws {
    let still = pose(0, 0, 0, turned: 0)
    let moved = pose(0, 0, -millimeters / 1000, turned: 0)
    for (frame, at) in [(wall(at: still, error: millimeters), still), (wall(at: still), moved)] {
      let result = try #require(
        try agreement().compare(frame.span, at: at, with: wall(at: still).span, at: still))
      #expect(abs(result.medianMillimeters - millimeters) < 0.1 * millimeters)
    }
  }

  @Test("Frames that do not overlap, or measure too little, tell nothing")
  func nothing() throws {
    let (first, away) = (pose(0, 0, 0, turned: 0), pose(0, 0, 0, turned: 1.2))
    let (agreement, frame) = (try agreement(), wall(at: first))
    #expect(agreement.compare(frame.span, at: away, with: frame.span, at: first) == nil)
    let few = frame.enumerated().map { $0.offset % 40 == 0 ? $0.element : 0 }
    #expect(agreement.compare(few.span, at: first, with: frame.span, at: first) == nil)
    #expect(agreement.compare(frame.span, at: first, with: few.span, at: first) == nil)
    #expect(agreement.compare([1, 2].span, at: first, with: frame.span, at: first) == nil)
    let nan = Pose(position: [.nan, 0, 0], orientation: first.orientation)
    #expect(agreement.compare(frame.span, at: nan, with: frame.span, at: first) == nil)
  }
}
