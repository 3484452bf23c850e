@testable import Core
import Testing

@Suite("Poses in the conventions of other tools")
struct CameraAxesTests {
  /// A camera 2 m up that looks along +x of a y-up world: its right is +z, its down is -y.
  private let pose: Pose = {
    Pose(rotation: [0, 0, 1, 0, -1, 0, 1, 0, 0], position: [5, 2, -3])
      ?? Pose(position: [], orientation: Quaternion(x: 0, y: 0, z: 0, w: 1))
  }()

  @Test("COLMAP's direction maps the camera's position to 0, and points ahead to +z")
  func cameraFromWorld() {
    expect(pose.cameraFromWorld.apply(to: [5, 2, -3]), [0, 0, 0])
    expect(pose.cameraFromWorld.apply(to: [9, 2, -3]), [0, 0, 4])
    // Up in the world is against the camera's down.
    expect(pose.cameraFromWorld.apply(to: [5, 3, -3]), [0, -1, 0])
    // t is not the camera's place.
    expect(pose.cameraFromWorld.translation, [3, 2, -5])
  }

  @Test("The quaternion of COLMAP's direction turns as its matrix does, w stays at least 0")
  func cameraFromWorldOrientation() {
    let turned = Pose(
      position: [1, 2, 3], orientation: Quaternion(x: 0.1, y: -0.2, z: 0.3, w: -0.9))
    for pose in [pose, turned] {
      expect(pose.cameraFromWorldOrientation.rotation, pose.cameraFromWorld.rotation)
      #expect(pose.cameraFromWorldOrientation.w >= 0)
    }
    let still = Quaternion(x: 0, y: 0, z: 0, w: 1).conjugate
    #expect([still.x, still.y, still.z].allSatisfy { $0.sign == .plus })
  }

  @Test("An OpenGL camera has columns 2 and 3 negated and the same position")
  func openGL() {
    let matrix = pose.worldFromOpenGLCamera.rowMajor
    expect(matrix, [0, 0, -1, 5, 0, 1, 0, 2, 1, 0, 0, -3, 0, 0, 0, 1])
    // What lies ahead has negative z there.
    expect(pose.worldFromOpenGLCamera.apply(to: [0, 0, -4]), [9, 2, -3])
  }

  @Test("A y-up world turned z-up keeps its handedness: new z is old y, new x is old z")
  func zUp() {
    let turn = WorldAxes.worldFromApp(.z)
    expect(turn.apply(to: [1, 2, 3]), [3, 1, 2])
    #expect(turn.determinant == 1)
    #expect(WorldAxes.worldFromApp(.app).isIdentity)
    #expect(WorldAxes.worldFromApp(.z, of: .zUp).isIdentity)
    #expect(WorldAxes.worldFromApp(.z, of: .firstCamera).isIdentity, "nobody knows what is up")
    // From the left: the place turns along.
    expect((turn * pose.worldFromCamera).translation, [-3, 5, 2])
  }

  @Test("Half a pixel lies between counting from a pixel's center and from its corner")
  func halfPixel() {
    #expect(PixelCenters.cornerPixel(fromCenterPixel: 319.5) == 320)
    let camera = PinholeCamera(width: 640, height: 480, fx: 500, fy: 501, cx: 319.25, cy: -0.5)
    #expect(camera.cornerPrincipalPoint == (319.75, 0))
    #expect(camera.rowMajor3x3 == [500, 0, 319.25, 0, 501, -0.5, 0, 0, 1])
    #expect(camera.columnMajor3x3 == [500, 0, 0, 0, 501, 0, 319.25, -0.5, 1])
    #expect(
      camera.rowMajor4x4 == [500, 0, 319.25, 0, 0, 501, -0.5, 0, 0, 0, 1, 0, 0, 0, 0, 1])
  }

  private func expect(_ found: [Double], _ expected: [Double]) {
    #expect(found.count == expected.count)
    #expect(zip(found, expected).allSatisfy { abs($0 - $1) < 1e-12 }, "\(found), not \(expected)")
  }
}
