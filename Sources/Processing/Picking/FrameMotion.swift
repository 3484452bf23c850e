import Core

/// How far the camera of a capture moved between any two frames, by its poses and by its gyroscope.
///
/// Holds a pose and an attitude per frame.
public struct FrameMotion: Sendable {
  /// An attitude relative to that of the first frame of its part: what lies between two parts the
  /// gyroscope does not know.
  private struct Attitude {
    var part: Int
    var turn: Quaternion
  }

  private let poses: [Int: Pose]
  private let attitudes: [Int: Attitude]

  /// - Parameters:
  ///   - poses: by frame.
  ///   - times: by frame, on the clock of the gyroscope; `nil` = unknown.
  ///
  /// Cost: one pass over the readings of the gyroscope.
  public init(poses: [Int: Pose], times: [Timestamp?], gyroscope: GyroscopeRotation?) {
    self.poses = poses
    var attitudes: [Int: Attitude] = [:]
    var last: (time: Timestamp, attitude: Attitude)?
    var parts = 0
    if let gyroscope {
      for (frame, time) in times.enumerated() {
        guard let time, gyroscope.speed(at: time) != nil else { continue }
        var attitude: Attitude?
        if let last {
          if time == last.time {
            attitude = last.attitude
          } else if let turn = gyroscope.rotation(from: last.time, to: time) {
            attitude = Attitude(part: last.attitude.part, turn: last.attitude.turn.then(turn))
          }
        }
        if attitude?.turn.w.isFinite != true {
          attitude = Attitude(part: parts, turn: Quaternion(x: 0, y: 0, z: 0, w: 1))
          parts += 1
        }
        attitudes[frame] = attitude
        last = attitude.map { (time, $0) }
      }
    }
    self.attitudes = attitudes
  }

  public func hasPose(_ frame: Int) -> Bool { poses[frame] != nil }

  /// Whether any frame has a pose.
  public var hasPoses: Bool { !poses.isEmpty }

  /// Whether the gyroscope covers any frame.
  var hasGyroscope: Bool { !attitudes.isEmpty }

  /// By the poses; `nil` if one of the frames has none.
  func move(from frame: Int, to other: Int) -> (degrees: Double, meters: Double)? {
    guard let a = poses[frame], let b = poses[other] else { return nil }
    let meters = zip(a.position, b.position).reduce(0) { $0 + ($1.0 - $1.1) * ($1.0 - $1.1) }
      .squareRoot()
    let degrees = a.rotationDegrees(to: b)
    return degrees.isFinite && meters.isFinite ? (degrees, meters) : nil
  }

  /// By the gyroscope; `nil` if it does not cover the time between the frames without a gap.
  func turn(from frame: Int, to other: Int) -> Double? {
    guard let a = attitudes[frame], let b = attitudes[other], a.part == b.part else { return nil }
    return a.turn.degrees(to: b.turn)
  }
}

extension Quaternion {
  /// The angle between two rotations: degrees, 0…180.
  fileprivate func degrees(to other: Quaternion) -> Double {
    let between = inverse.then(other)
    return RotationAngle.degrees(w: between.w, x: between.x, y: between.y, z: between.z)
  }
}
