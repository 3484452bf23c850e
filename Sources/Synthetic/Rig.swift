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
  func row(_ frame: Int, _ nanoseconds: Int64?) -> JSONRow {
    let q = orientation
    return [frame, nanoseconds, position[0], position[1], position[2], q.x, q.y, q.z, q.w]
  }
}

extension PinholeCamera {
  /// The camera with parameters as they read back from six decimals.
  var roundedToSixDecimals: PinholeCamera {
    PinholeCamera(
      width: width, height: height, fx: Decimals.round(fx, 6), fy: Decimals.round(fy, 6),
      cx: Decimals.round(cx, 6), cy: Decimals.round(cy, 6))
  }

  /// The camera with parameters as they read back from a text in single precision.
  var roundedToSingle: PinholeCamera {
    func rounded(_ value: Double) -> Double { Double("\(Float(value))") ?? value }
    return PinholeCamera(
      width: width, height: height, fx: rounded(fx), fy: rounded(fy), cx: rounded(cx),
      cy: rounded(cy))
  }

  /// Nine numbers, column-major: `fx 0 0 0 fy 0 cx cy 1`.
  var columnMajor: [Double] { [fx, 0, 0, 0, fy, 0, cx, cy, 1] }

  /// fx, fy, cx, cy.
  var parameters: [Double] { [fx, fy, cx, cy] }

  /// The row of `intrinsics.csv`: frame, size of the pictures, parameters.
  func row(_ frame: Int, _ size: (width: Int, height: Int)?) -> JSONRow {
    [frame, size?.width, size?.height, fx, fy, cx, cy]
  }

  var size: (width: Int, height: Int) { (width, height) }

  /// The description of a stream of this camera's pictures.
  func stream(_ file: String, _ encoding: String, frames: Int) -> JSONObject {
    ["file": file, "encoding": encoding, "width": width, "height": height, "frames": frames]
  }

  var json: JSONObject {
    [
      "width": width, "height": height, "fx": fx, "fy": fy,
      "cx": cx, "cy": cy,
    ]
  }
}
