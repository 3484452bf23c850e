@testable import Core
import Testing

@Suite("A phone's camera and its inertial sensors")
struct PhoneAxesTests {
  @Test("The stored landscape picture: its right is the device's down, its down the device's left")
  func stored() {
    let turn = PhoneAxes.imuFromCamera(clockwiseQuarterTurns: 0)
    #expect(turn.rotation == [0, -1, 0, -1, 0, 0, 0, 0, -1])
    #expect(turn.apply(to: [1, 0, 0]) == [0, -1, 0])
    #expect(turn.apply(to: [0, 1, 0]) == [-1, 0, 0])
    // Ahead is out of the back.
    #expect(turn.apply(to: [0, 0, 1]) == [0, 0, -1])
  }

  @Test("Turned upright, portrait: right is right, down is down, ahead is out of the back")
  func portrait() {
    let turn = PhoneAxes.imuFromCamera(clockwiseQuarterTurns: 1)
    #expect(zip(turn.rotation, [1, 0, 0, 0, -1, 0, 0, 0, -1]).allSatisfy { $0 == $1 })
  }

  @Test("Every turn is a rotation, four make none, the inverse is its transpose", arguments: -1...5)
  func turns(count: Int) {
    let there = PhoneAxes.imuFromCamera(clockwiseQuarterTurns: count)
    let back = PhoneAxes.cameraFromIMU(clockwiseQuarterTurns: count)
    #expect(there.isRigid(within: 0))
    #expect((there * back).rotation.map(abs) == RigidTransform.identity.rotation)
    let again = PhoneAxes.imuFromCamera(clockwiseQuarterTurns: count + 4)
    #expect(zip(there.rotation, again.rotation).allSatisfy { $0 == $1 })
    #expect(back.translation == [0, 0, 0])
  }

  @Test("The body's pose is the camera's place with the sensor's axes")
  func body() {
    let camera = Pose(position: [1, 2, 3], orientation: Quaternion(x: 0, y: 0, z: 0, w: 1))
    let body = camera.worldFromIMU(
      cameraFromIMU: PhoneAxes.cameraFromIMU(clockwiseQuarterTurns: 0))
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
