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

/// How depth is brought onto the color grid. The defaults are those of the stage `aligned`.
public struct AlignmentParameters: Hashable, Sendable, Codable {
  /// What shape depth pixels are taken to have.
  public enum Surface: String, Hashable, Sendable, Codable, CaseIterable {
    /// Neighboring pixels are joined to triangles unless there is a discontinuity.
    case mesh
    /// Each depth pixel fills one output pixel, which leaves holes on a finer grid.
    case points
    /// Each depth pixel fills an upright box, as in other tools.
    case rectangle
  }

  /// The grid of the output.
  public enum Grid: String, Hashable, Sendable, Codable, CaseIterable {
    case color
    case halfColor = "color/2"
    case quarterColor = "color/4"
    /// The size of the depth picture, with the view of the color camera.
    case depth
  }

  public var surface = Surface.mesh
  public var grid = Grid.color
  /// Meters ≥ 0. The depths of a triangle's corners may differ by this plus the relative part.
  public var discontinuityAbsolute = 0.010
  /// Fraction ≥ 0 of the smallest depth of the triangle's corners.
  public var discontinuityRelative = 0.05
  /// Meters > 0. Points with a smaller Z in the color camera are not used.
  public var minimumDepth = 0.001

  public init(
    surface: Surface = .mesh, grid: Grid = .color, discontinuityAbsolute: Double = 0.010,
    discontinuityRelative: Double = 0.05, minimumDepth: Double = 0.001
  ) {
    self.surface = surface
    self.grid = grid
    self.discontinuityAbsolute = discontinuityAbsolute
    self.discontinuityRelative = discontinuityRelative
    self.minimumDepth = minimumDepth
  }

  func validate() throws(AlignmentError) {
    let atLeastZero = [
      ("discontinuityAbsolute", discontinuityAbsolute),
      ("discontinuityRelative", discontinuityRelative),
    ]
    for (key, value) in atLeastZero where !(value >= 0 && value.isFinite) {
      throw .invalidValue(CalibrationFault(key: key, value: "\(value)", rule: "0 or more, finite"))
    }
    guard minimumDepth > 0, minimumDepth.isFinite else {
      throw .invalidValue(
        CalibrationFault(key: "minimumDepth", value: "\(minimumDepth)", rule: "above 0 and finite"))
    }
  }
}

/// Why depth cannot be aligned.
public enum AlignmentError: Error, Hashable, CustomStringConvertible {
  /// The calibration lacks parts that alignment needs: the stage does not apply.
  case notApplicable(missing: [String])
  /// A number in the calibration is impossible.
  case invalidValue(CalibrationFault)
  /// A picture's size is neither that of the calibration nor of the same shape.
  case sizeMismatch(camera: CameraRole, calibration: PictureSize, picture: PictureSize)
  /// A depth frame has another number of pixels than the aligner was made for.
  case frameSize(pixels: Int, expected: PictureSize)
  /// The lens has no ray at the border of the picture, which `alpha` needs.
  case noUndistortedCamera(alpha: Double)

  public var description: String {
    switch self {
    case .notApplicable(let missing):
      "the calibration has no \(missing.joined(separator: ", no ")): give one as `calibration`"
    case .invalidValue(let fault):
      "\(fault)"
    case .sizeMismatch(let camera, let calibration, let picture):
      "size-mismatch: the calibration's \(camera) camera has \(calibration) pixels, the capture"
        + " \(picture), which is another shape: give a calibration made for this size"
    case .frameSize(let pixels, let expected):
      "the depth frame has \(pixels) pixels instead of \(expected)"
    case .noUndistortedCamera(let alpha):
      "the lens coefficients describe no ray at the border of the picture, so alpha \(alpha) has no"
        + " meaning: leave alpha out, which keeps the intrinsics, or give another calibration"
    }
  }
}

/// Which of the two cameras of a calibration.
public enum CameraRole: String, Hashable, Sendable, Codable {
  case depth, color
}
