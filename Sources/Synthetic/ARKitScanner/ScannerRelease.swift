import Core

/// Makes entries of the pose file of a published ScanNet++ scene.
enum ScannerRelease {
  /// From the world to that of the scene's mesh, in which z points up: (x, y, z) becomes (x, -z,
  /// y).
  static let meshFromRoom = Matrix3(
    x: Vector3(1, 0, 0), y: Vector3(0, 0, 1), z: Vector3(0, -1, 0))

  static func entry(
    _ facts: ScannerFrameFacts, seconds: Double, motion: InertialSample?
  ) -> JSONTree {
    let m = facts.transform.map { Double($0) }
    let camera = facts.intrinsics
    var members: [String: JSONTree] = [
      "timestamp": .number(seconds),
      "pose": rows(m), "aligned_pose": rows(aligned(m, isNaN: facts.isNaN)),
      "intrinsic": .array([
        JSONTree([camera.fx, 0, camera.cx]), JSONTree([0, camera.fy, camera.cy]),
        JSONTree([0, 0, 1]),
      ]),
    ]
    if let motion {
      members["imu"] = [
        "rotate_rate": JSONTree(motion.rotationRate.array),
        "acceleration": JSONTree(motion.userAcceleration.array),
        "gravity": JSONTree(motion.gravity.array),
      ]
    }
    return .object(members)
  }

  /// Column-major matrix with the mesh's world and OpenCV camera axes.
  static func aligned(_ m: [Double], isNaN: Bool = false) -> [Double] {
    var aligned: [Double] = []
    for column in 0..<4 {
      let sign = column == 1 || column == 2 ? -1.0 : 1
      let turned =
        meshFromRoom * (Vector3(m[column * 4], m[column * 4 + 1], m[column * 4 + 2]) * sign)
      aligned += turned.array + [m[column * 4 + 3]]
    }
    return aligned
  }

  /// The row of `poses.csv`.
  static func poseRow(_ facts: ScannerFrameFacts) -> JSONTree? {
    let m = aligned(facts.transform.map { Double($0) })
    guard let timestamp = facts.timestamp,
      let pose = Pose(
        rotation: [m[0], m[4], m[8], m[1], m[5], m[9], m[2], m[6], m[10]],
        position: [m[12], m[13], m[14]])
    else { return nil }
    let q = pose.orientation
    return .array(
      [JSONTree(facts.frame), .integer(timestamp)]
        + (pose.position + [q.x, q.y, q.z, q.w]).map { JSONTree.number($0) })
  }

  private static func rows(_ m: [Double]) -> JSONTree {
    .array((0..<4).map { row in JSONTree((0..<4).map { m[$0 * 4 + row] }) })
  }
}
