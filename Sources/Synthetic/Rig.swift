import Core

/// A scanner in a scene: the scene, its motion and its two cameras.
struct Rig {
  let room: Room
  let motion: CameraMotion
  let color: PinholeCamera
  let depth: PinholeCamera
  let depthMount: CameraMount

  init(
    _ options: SynthesisOptions, color: PinholeCamera, depth: PinholeCamera,
    depthMount: CameraMount = .color
  ) {
    let seed = options.seed
    room = Room.made(seed: seed, isFurnished: !options.roomIsEmpty)
    motion = CameraMotion(seed: seed, center: Room.cameraCenter, reach: Room.cameraReach)
    self.color = color
    self.depth = depth
    self.depthMount = depthMount
  }

  /// A device whose depth camera sees what the color camera sees, in the sizes that were asked for.
  init(_ options: SynthesisOptions, _ color: PinholeCamera, depth: (width: Int, height: Int)) {
    let color = color.scaled(
      toWidth: options.width ?? color.width, height: options.height ?? color.height)
    self.init(
      options, color: color,
      depth: color.scaled(
        toWidth: options.depthWidth ?? depth.width, height: options.depthHeight ?? depth.height))
  }
}

extension MotionState {
  /// Camera to world, OpenCV axes.
  var pose: Pose? {
    Pose(rotation: worldFromCamera.rowMajor, position: position.array)
  }
}

extension Pose {
  /// The row of `poses.csv`: frame, time, position, quaternion.
  func row(_ frame: Int, _ nanoseconds: Int64?) -> JSONTree {
    let q = orientation
    return .array(
      [JSONTree(frame), JSONTree(nanoseconds)]
        + (position + [q.x, q.y, q.z, q.w]).map { JSONTree.number($0) })
  }
}

extension PinholeCamera {
  /// The camera with parameters as they read back from six decimals.
  var roundedToSixDecimals: PinholeCamera {
    PinholeCamera(
      width: width, height: height, fx: Decimals.round(fx, 6), fy: Decimals.round(fy, 6),
      cx: Decimals.round(cx, 6), cy: Decimals.round(cy, 6))
  }

  /// fx, fy, cx, cy.
  var parameters: [Double] { [fx, fy, cx, cy] }

  var json: JSONTree {
    [
      "width": JSONTree(width), "height": JSONTree(height), "fx": .number(fx), "fy": .number(fy),
      "cx": .number(cx), "cy": .number(cy),
    ]
  }
}
