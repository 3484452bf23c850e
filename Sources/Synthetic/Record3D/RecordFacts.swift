import Core

/// One frame's values in the metadata, as stored and as in a reader's tables.
struct RecordFacts {
  let frame: Int
  private let nanoseconds: Int64?
  /// qx, qy, qz, qw, x, y, z: camera to world, ARKit axes.
  let numbers: [Double]
  let camera: PinholeCamera

  static let identity = [0, 0, 0, 1, 0, 0, 0].map(Double.init)

  init(_ work: Synthesis<Record3DFamily>, _ frame: Int) {
    let (plan, state) = (work.plan, work.rig.motion.state(at: work.worldSeconds(frame)))
    self.frame = frame
    camera = work.camera.camera(frame)
    nanoseconds = work.recorded(frame)
    guard plan.tracking == .present else {
      numbers = Self.identity
      return
    }
    let position = state.position + plan.damage.shift(frame)
    let turn = state.worldFromCamera
    let arkit = Matrix3(x: turn.x, y: turn.y * -1, z: turn.z * -1)
    let q = Quaternion(rotation: arkit.rowMajor)
    let rotation = frame == plan.zeroPoseFrame ? [0, 0, 0, 0] : [q.x, q.y, q.z, q.w]
    numbers = (rotation + position.array).map { Double(Float($0)) }
  }

  /// The row of `poses.csv`; `nil` for a rotation of zero.
  var poseRow: JSONRow? {
    guard numbers[..<4].contains(where: { $0 != 0 }) else { return nil }
    // A half turn about the camera's x axis: y down, z forward.
    let q = Quaternion(x: numbers[3], y: numbers[2], z: -numbers[1], w: -numbers[0])
    return [frame, nanoseconds, numbers[4], numbers[5], numbers[6], q.x, q.y, q.z, q.w]
  }
}

/// The times of a Record3D recording: seconds since the first frame.
extension Synthesis<Record3DFamily> {
  /// Time of a frame in the scene, seconds.
  func worldSeconds(_ frame: Int) -> Double {
    let index = plan.damage.cameraFrame(frame)
    guard index > 0 else { return 0 }
    // Finer than nanoseconds.
    return Double(clock.nanoseconds(of: index) - clock.nanoseconds(of: 0)) / 1e9 + 0.37e-9
  }

  /// The number of seconds in the metadata.
  func timeText(_ frame: Int) -> String {
    let shown = plan.damage.timedFrame(frame)
    return shown == 0 ? "0" : "\(worldSeconds(shown))"
  }

  /// Number of times in the metadata; `nil` without any.
  private var timeCount: Int? {
    guard plan.isDescribed else { return nil }
    return switch plan.times {
    case .present: plan.frames
    case .short: plan.frames - 2
    case .absent: nil
    }
  }

  /// The time that a reader finds for a frame, nanoseconds.
  func recorded(_ frame: Int) -> Int64? {
    guard plan.isDescribed else { return nil }
    guard let timeCount else {
      return Int64((Double(frame) * 1e9 / rate).rounded(.toNearestOrAwayFromZero))
    }
    return frame < timeCount ? Timestamp(decimalSeconds: timeText(frame))?.nanoseconds : nil
  }
}
