@testable import Core
import Testing

@Suite("Pose, intrinsics and picture turn together")
struct PoseTurnTests {
  @Test(
    "A point of the world lies at the turned pixel in the turned camera",
    arguments: [0, 1, 2, 3, 5, -1])
  func pointsFollow(turns: Int) throws {
    let camera = PinholeCamera(width: 640, height: 480, fx: 500, fy: 520, cx: 310.5, cy: 235.25)
    let pose = Pose(
      position: [0.3, -1.2, 2], orientation: Quaternion(x: 0.3, y: -0.5, z: 0.2, w: 0.7))
    let turned = pose.turnedClockwise(quarterTurns: turns)
    let upright = camera.turnedClockwise(quarterTurns: turns)
    #expect(turned.position == pose.position)
    #expect(turned.orientation.w >= 0)
    func pixel(_ point: [Double], _ pose: Pose, _ camera: PinholeCamera) -> (Double, Double) {
      let p = pose.worldFromCamera.inverse.apply(to: point)
      return (camera.fx * p[0] / p[2] + camera.cx, camera.fy * p[1] / p[2] + camera.cy)
    }
    for seen in [[0.1, 0.2, 1], [-0.3, 0.15, 2]] as [[Double]] {
      let world = pose.worldFromCamera.apply(to: seen)
      let (u, v) = pixel(world, pose, camera)
      let expected =
        switch ((turns % 4) + 4) % 4 {
        case 1: (479 - v, u)
        case 2: (639 - u, 479 - v)
        case 3: (v, 639 - u)
        default: (u, v)
        }
      let found = pixel(world, turned, upright)
      #expect(abs(found.0 - expected.0) < 1e-9)
      #expect(abs(found.1 - expected.1) < 1e-9)
    }
  }
}
