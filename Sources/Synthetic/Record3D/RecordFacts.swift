import Core

/// One frame's values in the metadata, as stored and as in a reader's tables.
struct RecordFacts {
  let frame: Int
  private let nanoseconds: Int64?
  /// qx, qy, qz, qw, x, y, z: camera to world, ARKit axes.
  private let numbers: [Double]
  private let camera: PinholeCamera

  static let identity = [0, 0, 0, 1, 0, 0, 0].map(Double.init)

  init(frame: Int, plan: RecordPlan, times: RecordTimes, state: MotionState, camera: PinholeCamera)
  {
    self.frame = frame
    self.camera = camera
    nanoseconds = times.recorded(frame)
    guard plan.tracking == .present else {
      numbers = Self.identity
      return
    }
    let isMoved = plan.poseJumpFrame.map { frame >= $0 } ?? false
    let position = state.position + (isMoved ? Vector3(1.5, 0, -1) : .zero)
    let turn = state.worldFromCamera
    let arkit = Matrix3(x: turn.x, y: turn.y * -1, z: turn.z * -1)
    let q = Quaternion(rotation: arkit.rowMajor)
    let rotation = frame == plan.zeroPoseFrame ? [0, 0, 0, 0] : [q.x, q.y, q.z, q.w]
    numbers = (rotation + position.array).map { Double(Float($0)) }
  }

  var pose: JSONTree { JSONTree(numbers) }

  /// fx, fy, cx, cy.
  var intrinsics: [Double] { [camera.fx, camera.fy, camera.cx, camera.cy] }

  var columnMajor: JSONTree { JSONTree(DriftingCamera.columnMajor(camera)) }

  var rowMajor: JSONTree {
    JSONTree([camera.fx, 0, camera.cx, 0, camera.fy, camera.cy, 0, 0, 1])
  }

  /// The row of `poses.csv`; `nil` for a rotation of zero.
  var poseRow: JSONTree? {
    guard numbers[..<4].contains(where: { $0 != 0 }) else { return nil }
    // A half turn about the camera's x axis: y down, z forward.
    let q = Quaternion(x: numbers[3], y: numbers[2], z: -numbers[1], w: -numbers[0])
    return .array(
      [JSONTree(frame), JSONTree(nanoseconds)]
        + (numbers[4...] + [q.x, q.y, q.z, q.w]).map { JSONTree.number($0) })
  }
}
