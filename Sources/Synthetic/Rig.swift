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
}

extension MotionState {
  /// Camera to world, OpenCV axes.
  var pose: Pose? {
    Pose(rotation: worldFromCamera.rowMajor, position: position.array)
  }
}

extension PinholeCamera {
  /// The camera with parameters as they read back from six decimals.
  var roundedToSixDecimals: PinholeCamera {
    PinholeCamera(
      width: width, height: height, fx: Decimals.round(fx, 6), fy: Decimals.round(fy, 6),
      cx: Decimals.round(cx, 6), cy: Decimals.round(cy, 6))
  }

  var json: JSONTree {
    [
      "width": JSONTree(width), "height": JSONTree(height), "fx": .number(fx), "fy": .number(fy),
      "cx": .number(cx), "cy": .number(cy),
    ]
  }
}
