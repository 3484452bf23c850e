import Testing

@testable import Core

@Suite("Size and distortion of published pictures")
struct PictureShapeTests {
  @Test(
    "A rule keeps the aspect, rounds to whole pixels and never enlarges",
    arguments: [
      ("960", 1920, 1440, 960, 720), ("960", 1440, 1920, 720, 960),
      ("4000", 1920, 1440, 1920, 1440),
      ("50%", 1920, 1440, 960, 720), ("50%", 161, 121, 81, 61), ("100%", 7, 5, 7, 5),
      ("0.001%", 640, 480, 1, 1), ("33%", 1000, 500, 330, 165),
      ("640x480", 1920, 1440, 640, 480), ("640x480", 1296, 968, 640, 478),
      ("640x480", 1440, 1920, 360, 480), ("640x480", 320, 240, 320, 240), ("1", 5000, 3, 1, 1),
    ])
  func sizes(_ text: String, _ width: Int, _ height: Int, _ newWidth: Int, _ newHeight: Int) throws
  {
    let rule = try #require(PictureSizing(text))
    let size = rule.size(width: width, height: height)
    #expect(size.width == newWidth && size.height == newHeight, "\(text): \(size)")
  }

  @Test(
    "What is no rule is refused",
    arguments: [
      "", "0", "-5", "0%", "101%", "%", "50 %", "x", "640x", "x480", "640x480x3", "640X480", "1e3",
      "16385", "640x0", "nan%", "+3", "９６０", "99999999999999999999",
    ])
  func refused(_ text: String) { #expect(PictureSizing(text) == nil) }

  @Test(
    "Equal rules have one text",
    arguments: [
      ("050%", "50%"), ("50.0%", "50%"), ("12.5%", "12.5%"), ("0960", "960"),
      ("640x480", "640x480"),
    ])
  func texts(_ text: String, _ plain: String) { #expect(PictureSizing(text)?.text == plain) }

  /// What OpenCV 5.0.0 gives for 320x240 with fx 300, fy 305, cx 159.2, cy 121.7; its own inversion of
  /// the lens stops after some iterations, hence the tolerance.
  @Test(
    "alpha chooses OpenCV's optimal camera",
    arguments: [
      ([-0.12, 0.03, 0.001, -0.002, 0], 0, [289.9092789, 299.3779616, 158.5975614, 121.9329244]),
      (
        [-0.12, 0.03, 0.001, -0.002, 0], 0.5, [287.0414677, 293.9701148, 158.5222484, 121.9917573]
      ),
      ([-0.12, 0.03, 0.001, -0.002, 0], 1, [284.1736566, 288.5622680, 158.4469355, 122.0505901]),
      ([0.08, -0.02, 0, 0, 0.001], 0, [308.9783469, 314.0493003, 159.2094264, 121.6623383]),
      ([0.08, -0.02, 0, 0, 0.001], 1, [306.0818160, 308.5273725, 159.2106813, 121.6527237]),
    ] as [([Double], Double, [Double])])
  func alpha(_ lens: [Double], _ alpha: Double, _ expected: [Double]) throws {
    let camera = LensCamera(
      pinhole: PinholeCamera(width: 320, height: 240, fx: 300, fy: 305, cx: 159.2, cy: 121.7),
      distortion: LensDistortion(openCVOrder: lens))
    let found = try #require(camera.undistortedPinhole(alpha: alpha))
    for (value, wanted) in zip([found.fx, found.fy, found.cx, found.cy], expected) {
      #expect(abs(value - wanted) < 0.005, "\(found)")
    }
  }

  @Test("The shape of a turned picture is the turned shape", arguments: 0..<4)
  func turned(_ turns: Int) throws {
    let camera = LensExamples.structureColor
    let shape = PictureShape(undistorts: true, alpha: 0.3, sizing: .percent(25))
    let upright = try #require(shape.camera(from: camera.turnedClockwise(quarterTurns: turns)))
    let straight = try #require(shape.camera(from: camera)).pinhole.turnedClockwise(
      quarterTurns: turns)
    for (a, b) in [
      (upright.pinhole.fx, straight.fx), (upright.pinhole.fy, straight.fy),
      (upright.pinhole.cx, straight.cx), (upright.pinhole.cy, straight.cy),
    ] { #expect(abs(a - b) < 1e-6) }
    #expect(upright.pinhole.width == straight.width && upright.distortion.isNone)
  }

  @Test(
    "Without alpha the pinhole is that of the camera; intrinsics of smaller pictures keep the borders"
  )
  func plain() throws {
    let camera = LensExamples.structureColor
    let full = PictureShape(undistorts: true)
    #expect(full.camera(from: camera)?.pinhole == camera.pinhole)
    let half = try #require(PictureShape(sizing: .percent(50)).camera(from: camera))
    #expect(half.distortion == camera.distortion && half.pinhole.width == 648)
    #expect(half.pinhole.fx == camera.pinhole.fx / 2)
    #expect(half.pinhole.cx == (camera.pinhole.cx + 0.5) / 2 - 0.5)
    #expect(PictureShape().isAsRecorded && !full.isAsRecorded)
  }
}

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
    let still = Quaternion(x: 0, y: 0, z: 0, w: 1).inverse
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
    let turn = RigidTransform.worldFromApp(.z)
    expect(turn.apply(to: [1, 2, 3]), [3, 1, 2])
    #expect(turn.determinant == 1)
    #expect(RigidTransform.worldFromApp(.app).isIdentity)
    #expect(RigidTransform.worldFromApp(.z, of: .zUp).isIdentity)
    #expect(RigidTransform.worldFromApp(.z, of: .firstCamera).isIdentity, "nobody knows what is up")
    // From the left: the place turns along.
    expect((turn * pose.worldFromCamera).translation, [-3, 5, 2])
  }

  @Test("Half a pixel lies between counting from a pixel's center and from its corner")
  func halfPixel() {
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

@Suite("A phone's camera and its inertial sensors")
struct PhoneAxesTests {
  @Test("The stored landscape picture: its right is the device's down, its down the device's left")
  func stored() {
    let turn = RigidTransform.imuFromCamera(clockwiseQuarterTurns: 0)
    #expect(turn.rotation == [0, -1, 0, -1, 0, 0, 0, 0, -1])
    #expect(turn.apply(to: [1, 0, 0]) == [0, -1, 0])
    #expect(turn.apply(to: [0, 1, 0]) == [-1, 0, 0])
    // Ahead is out of the back.
    #expect(turn.apply(to: [0, 0, 1]) == [0, 0, -1])
  }

  @Test("Turned upright, portrait: right is right, down is down, ahead is out of the back")
  func portrait() {
    let turn = RigidTransform.imuFromCamera(clockwiseQuarterTurns: 1)
    #expect(zip(turn.rotation, [1, 0, 0, 0, -1, 0, 0, 0, -1]).allSatisfy { $0 == $1 })
  }

  @Test("Every turn is a rotation, four make none, the inverse is its transpose", arguments: -1...5)
  func turns(count: Int) {
    let there = RigidTransform.imuFromCamera(clockwiseQuarterTurns: count)
    let back = RigidTransform.cameraFromIMU(clockwiseQuarterTurns: count)
    #expect(there.isRigid(within: 0))
    #expect((there * back).rotation.map(abs) == RigidTransform.identity.rotation)
    let again = RigidTransform.imuFromCamera(clockwiseQuarterTurns: count + 4)
    #expect(zip(there.rotation, again.rotation).allSatisfy { $0 == $1 })
    #expect(back.translation == [0, 0, 0])
  }

  @Test("The body's pose is the camera's place with the sensor's axes")
  func body() {
    let camera = Pose(position: [1, 2, 3], orientation: Quaternion(x: 0, y: 0, z: 0, w: 1))
    let body = camera.worldFromIMU(
      cameraFromIMU: RigidTransform.cameraFromIMU(clockwiseQuarterTurns: 0))
    #expect(body.position == [1, 2, 3])
    // The device's x axis lies along the camera's -y.
    let x = body.worldFromCamera.apply(to: [1, 0, 0])
    #expect(zip(x, [1, 1, 3]).allSatisfy { abs($0 - $1) < 1e-12 })
  }

  @Test("CoreMotion's reading of gravity becomes +9.8 along the axis that points up")
  func specificForce() {
    // Face up: CoreMotion says -1 g along z, Android +9.8.
    let ios = SpecificForce.specificForce(fromCoreMotion: (0, 0.5, -9.80665))
    #expect(ios == (0, -0.5, 9.80665))
    #expect(ios.x.sign == .plus)
    #expect(SpecificForce.specificForce(fromAndroid: (0, 0.5, 9.80665)) == (0, 0.5, 9.80665))
    #expect(SpecificForce.g(fromMetersPerSecondSquared: -9.80665) == -1)
  }
}

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
