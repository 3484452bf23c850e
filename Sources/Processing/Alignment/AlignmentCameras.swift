import Core

/// The two cameras of an alignment, after all rules about sizes and registered captures are
/// applied.
struct AlignmentCameras {
  let depth: LensCamera
  let color: LensCamera
  /// Depth-camera coordinates to color-camera coordinates, meters.
  let colorFromDepth: RigidTransform
  /// Cameras whose intrinsics were brought to the size of the capture's pictures.
  let rescaled: [CameraRescale]

  /// - Parameters:
  ///   - depthSize: size of the depth pictures, if known independently of the calibration.
  ///   - colorSize: size of the color pictures before any turn, likewise.
  ///   - shape: what was done to the upright color pictures since.
  ///   - clockwiseQuarterTurns: the turn that made them upright.
  init(
    calibration: DepthCalibration, depthSize: PictureSize?, colorSize: PictureSize?,
    shape: PictureShape = PictureShape(), clockwiseQuarterTurns: Int = 0
  ) throws(AlignmentError) {
    if let fault = calibration.firstFault { throw .invalidValue(fault) }
    try Self.check(depthSize, .depth)
    try Self.check(colorSize, .color)
    var missing: [String] = []
    if calibration.colorIntrinsics == nil { missing.append("colorIntrinsics") }
    if calibration.depthIntrinsics == nil, !calibration.sharesCamera || depthSize == nil {
      missing.append("depthIntrinsics")
    }
    let transform = calibration.colorFromDepth ?? (calibration.registered ? .identity : nil)
    if transform == nil { missing.append("colorFromDepth") }
    guard let statedColor = calibration.colorIntrinsics, let transform, missing.isEmpty else {
      throw .notApplicable(missing: missing)
    }
    var rescaled: [CameraRescale] = []
    let color = try Self.fitted(statedColor, to: colorSize, .color, &rescaled)
    let depth: PinholeCamera
    if let stated = calibration.depthIntrinsics {
      depth = try Self.fitted(stated, to: depthSize, .depth, &rescaled)
    } else if let depthSize {
      depth = color.scaled(toWidth: depthSize.width, height: depthSize.height)
    } else {
      throw .notApplicable(missing: ["depthIntrinsics"])
    }
    let recorded = LensCamera(pinhole: color, distortion: calibration.colorDistortion)
    self.color = try Self.shaped(recorded, shape, clockwiseQuarterTurns)
    self.depth = LensCamera(
      pinhole: depth, distortion: calibration.effectiveDepthDistortion)
    colorFromDepth = transform
    self.rescaled = rescaled
  }

  /// The color camera of shaped pictures, before their turn.
  private static func shaped(
    _ camera: LensCamera, _ shape: PictureShape, _ turns: Int
  ) throws(AlignmentError) -> LensCamera {
    if shape.isAsRecorded { return camera }
    guard let upright = shape.camera(from: camera.turnedClockwise(quarterTurns: turns)) else {
      throw .noUndistortedCamera(alpha: shape.alpha ?? 0)
    }
    return upright.turnedClockwise(quarterTurns: 0 - turns)
  }

  private static func check(_ size: PictureSize?, _ role: CameraRole) throws(AlignmentError) {
    guard let size else { return }
    let sides = 1...DepthCalibration.largestSide
    guard sides.contains(size.width), sides.contains(size.height),
      size.width * size.height <= DepthCalibration.largestArea
    else {
      throw .invalidValue(
        CalibrationFault(
          key: "\(role) picture size", value: "\(size)",
          rule: "1 to \(sides.upperBound) pixels a side, \(DepthCalibration.largestArea) in all"))
    }
  }

  /// The camera at the picture's size: unchanged if that is its size, rescaled if the aspects agree
  /// within 1 %, else an error.
  private static func fitted(
    _ camera: PinholeCamera, to size: PictureSize?, _ role: CameraRole,
    _ rescaled: inout [CameraRescale]
  ) throws(AlignmentError) -> PinholeCamera {
    let own = PictureSize(camera)
    guard let size, size != own else { return camera }
    guard let fitted = camera.fitted(toWidth: size.width, height: size.height) else {
      throw .sizeMismatch(camera: role, calibration: own, picture: size)
    }
    rescaled.append(CameraRescale(camera: role, from: own, to: size))
    return fitted
  }
}

/// A camera whose intrinsics were rescaled, by the half-pixel rule, to another picture size.
public struct CameraRescale: Hashable, Sendable {
  public var camera: CameraRole
  public var from: PictureSize
  public var to: PictureSize
}
