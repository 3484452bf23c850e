import Core

/// Converts depth pixels to points in space.
///
/// Make one per camera. The rays of the depth camera are tabulated (8 bytes per depth pixel; one
/// lens inversion each), so that a distorted lens adds no cost per frame. May be used by any number
/// of threads.
public struct DepthUnprojector: Sendable {
  /// Size of the depth frames.
  public let depthSize: PictureSize
  /// Depth-camera coordinates to coordinates of the color camera as recorded (before any turn),
  /// meters.
  public let colorFromDepth: RigidTransform
  /// (x, y) of the ray's point at z = 1, per depth pixel; NaN where the lens has no ray.
  private let rays: [SIMD2<Float>]

  /// Optional parts and rescaling are the same as for `DepthAligner`.
  public init(
    calibration: DepthCalibration, depthSize: PictureSize? = nil, colorSize: PictureSize? = nil
  ) throws(AlignmentError) {
    let cameras = try AlignmentCameras(
      calibration: calibration, depthSize: depthSize, colorSize: colorSize)
    self.depthSize = PictureSize(cameras.depth.pinhole)
    colorFromDepth = cameras.colorFromDepth
    rays = Self.rays(of: cameras.depth)
  }

  private static func rays(of camera: LensCamera) -> [SIMD2<Float>] {
    let (width, height) = (camera.pinhole.width, camera.pinhole.height)
    var rays: [SIMD2<Float>] = []
    rays.reserveCapacity(width * height)
    for j in 0..<height {
      for i in 0..<width {
        let ray = camera.ray(u: Double(i), v: Double(j)) ?? (.nan, .nan)
        rays.append(SIMD2(Float(ray.x), Float(ray.y)))
      }
    }
    return rays
  }

  /// Calls `body` for the measured pixels of a frame, row by row, taking every `step`-th column and
  /// row. `body` gets the pixel's index in the frame and its point, in meters and in the target
  /// axes of `targetFromDepth`.
  ///
  /// Pixels without depth (0) or without a ray are left out. Throws `frameSize` unless `depth` has
  /// the number of pixels of `depthSize`. Cost: some nanoseconds per pixel, plus `body`.
  public func forEachPoint(
    of depth: Span<UInt16>, step: Int = 1, through targetFromDepth: RigidTransform,
    _ body: (_ index: Int, _ x: Double, _ y: Double, _ z: Double) -> Void
  ) throws(AlignmentError) {
    guard depth.count == rays.count else {
      throw .frameSize(pixels: depth.count, expected: depthSize)
    }
    let (r, t) = (targetFromDepth.rotation, targetFromDepth.translation)
    let (r0, r1, r2, r3, r4, r5, r6, r7, r8) = (
      r[0], r[1], r[2], r[3], r[4], r[5], r[6], r[7], r[8]
    )
    let (tx, ty, tz) = (t[0], t[1], t[2])
    for j in stride(from: 0, to: depthSize.height, by: max(1, step)) {
      for i in stride(from: 0, to: depthSize.width, by: max(1, step)) {
        let index = j * depthSize.width + i
        let stored = depth[index]
        let ray = rays[index]
        guard stored != 0, ray.x == ray.x else { continue }
        let (a, b, z) = (Double(ray.x), Double(ray.y), Double(stored) / 1000)
        body(
          index, z * (r0 * a + r1 * b + r2) + tx, z * (r3 * a + r4 * b + r5) + ty,
          z * (r6 * a + r7 * b + r8) + tz)
      }
    }
  }
}

extension DepthCalibration {
  /// The depth camera with its lens, for pictures on their own grid. Depth that shares the color camera has that of
  /// color on its grid.
  ///
  /// Throws `notApplicable` if neither is known, and `sizeMismatch` for another aspect.
  ///
  /// - Parameters:
  ///   - size: size of the depth pictures.
  ///   - colorSize: size of the color pictures before any turn; `nil` = that of the calibration.
  public func depthCamera(
    size: PictureSize, colorSize: PictureSize?
  ) throws(AlignmentError) -> LensCamera {
    if let fault = firstFault { throw .invalidValue(fault) }
    if let stated = depthIntrinsics {
      guard let fitted = stated.fitted(toWidth: size.width, height: size.height) else {
        throw .sizeMismatch(camera: .depth, calibration: PictureSize(stated), picture: size)
      }
      return LensCamera(pinhole: fitted, distortion: depthDistortion)
    }
    guard sharesCamera, let color = colorIntrinsics else {
      throw .notApplicable(missing: ["depthIntrinsics"])
    }
    let colorSize = colorSize ?? PictureSize(color)
    guard let fitted = color.fitted(toWidth: colorSize.width, height: colorSize.height) else {
      throw .sizeMismatch(camera: .color, calibration: PictureSize(color), picture: colorSize)
    }
    return LensCamera(
      pinhole: fitted.scaled(toWidth: size.width, height: size.height),
      distortion: colorDistortion)
  }
}
