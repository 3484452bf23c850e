import Core

/// Converts depth frames into the depth that the color camera would have measured: Z along the
/// color camera's optical axis in millimeters, rounded to nearest, 0 = none, on the output grid of
/// the parameters.
///
/// Make one per calibration. The rays of the depth camera are tabulated and rotated into the color
/// camera's axes (12 bytes per depth pixel; one lens inversion each). The aligner is immutable and
/// may be used by any number of threads, each with its own `AlignmentScratch`. Nothing is filled
/// in, smoothed or dilated. The output does not depend on threads, bands or order: the nearest
/// surface wins at each pixel.
///
/// Not for depth whose intrinsics change from frame to frame.
public struct DepthAligner: Sendable {
  public let parameters: AlignmentParameters
  /// Size of the depth frames.
  let depthSize: PictureSize
  /// Intrinsics and size of the output, after the turn. The color lens applies to it too: the
  /// output matches the distorted color image, unless the shape undistorts that.
  public let outputIntrinsics: PinholeCamera
  /// Depth-camera coordinates to coordinates of the unturned color camera, meters.
  public let colorFromDepth: RigidTransform
  /// Cameras whose intrinsics were rescaled from the calibration's size to the capture's.
  public let rescaledCameras: [CameraRescale]
  /// Clockwise quarter turns of the output, 0 to 3.
  let clockwiseQuarterTurns: Int

  let method: AlignmentMethod
  let rays: RayTable
  let projector: VertexProjector
  /// Size of the output before the turn.
  let unturnedSize: PictureSize

  /// - Parameters:
  ///   - calibration: the two cameras. A registered capture needs no transform (identity) and no
  ///     depth intrinsics (the color camera on the depth grid, lens included).
  ///   - depthSize: size of the frames, if known independently of the calibration; intrinsics are
  ///     rescaled when the aspects agree within 1 %.
  ///   - colorSize: size of the color pictures before any turn; likewise.
  ///   - clockwiseQuarterTurns: how the color pictures were turned; the output is turned by the
  ///     same angle.
  ///   - shape: what was done to the upright color pictures; the output belongs to the shaped ones.
  public init(
    calibration: DepthCalibration, parameters: AlignmentParameters = AlignmentParameters(),
    depthSize: PictureSize? = nil, colorSize: PictureSize? = nil, clockwiseQuarterTurns: Int = 0,
    shape: PictureShape = PictureShape()
  ) throws(AlignmentError) {
    try parameters.validate()
    let cameras = try AlignmentCameras(
      calibration: calibration, depthSize: depthSize, colorSize: colorSize, shape: shape,
      clockwiseQuarterTurns: clockwiseQuarterTurns)
    try self.init(
      cameras, parameters: parameters, clockwiseQuarterTurns: clockwiseQuarterTurns)
  }

  /// For cameras to which all rules have been applied.
  init(
    _ cameras: AlignmentCameras, parameters: AlignmentParameters, clockwiseQuarterTurns: Int
  ) throws(AlignmentError) {
    try parameters.validate()
    let depth = cameras.depth.pinhole
    let output = try Self.outputCamera(parameters.grid, cameras)
    self.parameters = parameters
    self.depthSize = PictureSize(depth)
    self.clockwiseQuarterTurns = ((clockwiseQuarterTurns % 4) + 4) % 4
    unturnedSize = PictureSize(output.pinhole)
    outputIntrinsics = output.pinhole.turnedClockwise(quarterTurns: clockwiseQuarterTurns)
    colorFromDepth = cameras.colorFromDepth
    rescaledCameras = cameras.rescaled
    projector = VertexProjector(
      width: depth.width, translation: cameras.colorFromDepth.translation, color: output,
      minimumDepth: parameters.minimumDepth, snaps: parameters.surface == .mesh)
    method = AlignmentMethod(parameters, cameras, output: output)
    rays =
      method.copies
      ? RayTable.empty
      : RayTable(
        camera: cameras.depth, rotation: cameras.colorFromDepth.rotation, columns: depth.width,
        rows: depth.height, stride: projector.stride)
  }

  /// The color camera on the grid of the output.
  private static func outputCamera(
    _ grid: AlignmentParameters.Grid, _ cameras: AlignmentCameras
  ) throws(AlignmentError) -> LensCamera {
    let color = cameras.color.pinhole
    let size =
      switch grid {
      case .color: PictureSize(color)
      case .halfColor: PictureSize(width: color.width / 2, height: color.height / 2)
      case .quarterColor: PictureSize(width: color.width / 4, height: color.height / 4)
      case .depth: PictureSize(cameras.depth.pinhole)
      }
    guard size.width > 0, size.height > 0 else {
      throw .invalidValue(
        CalibrationFault(
          key: "grid", value: grid.rawValue,
          rule: "a grid of at least one pixel of a color picture of \(PictureSize(color))"))
    }
    return cameras.color.scaled(toWidth: size.width, height: size.height)
  }
}

/// How a frame is processed.
enum AlignmentMethod: Sendable {
  /// The output camera is the depth camera: the frame is copied, isolated pixels included.
  case copy
  case mesh(MeshKernel)
  case points(SplatKernel)
  /// Uses the rays of the pixels' corners: (i − 0.5, j − 0.5) and (i + 0.5, j + 0.5).
  case rectangle(SplatKernel, corners: RayTable, oppositeCorners: RayTable)

  var copies: Bool {
    if case .copy = self { true } else { false }
  }

  init(_ parameters: AlignmentParameters, _ cameras: AlignmentCameras, output: LensCamera) {
    let depth = cameras.depth.pinhole
    let stride = VertexProjector.stride(width: depth.width)
    if Self.isSame(cameras.depth, output), cameras.colorFromDepth.isNearIdentity {
      self = .copy
      return
    }
    switch parameters.surface {
    case .mesh:
      self = .mesh(MeshKernel(width: depth.width, parameters: parameters))
    case .points:
      self = .points(SplatKernel(vertexStride: stride, width: depth.width))
    case .rectangle:
      func corners(_ offset: Double) -> RayTable {
        RayTable(
          camera: cameras.depth, rotation: cameras.colorFromDepth.rotation, columns: depth.width,
          rows: depth.height, stride: stride, offset: offset)
      }
      self = .rectangle(
        SplatKernel(vertexStride: stride, width: depth.width), corners: corners(-0.5),
        oppositeCorners: corners(0.5))
    }
  }

  /// Whether two cameras give the same picture, up to a millionth of a pixel for the rounding of
  /// scales.
  private static func isSame(_ a: LensCamera, _ b: LensCamera) -> Bool {
    let (p, q) = (a.pinhole, b.pinhole)
    return p.width == q.width && p.height == q.height && a.distortion == b.distortion
      && zip([p.fx, p.fy, p.cx, p.cy], [q.fx, q.fy, q.cx, q.cy]).allSatisfy { abs($0 - $1) < 1e-6 }
  }
}

extension RigidTransform {
  /// Whether this is the identity up to the rounding of the last printed digit.
  fileprivate var isNearIdentity: Bool {
    zip(rowMajor, RigidTransform.identity.rowMajor).allSatisfy { abs($0 - $1) < 1e-9 }
  }
}
