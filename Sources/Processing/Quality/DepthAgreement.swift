import Core

/// Compares the depth of one frame with that of another, after moving its points by the poses of the
/// two frames: both saw the same surfaces, so what is left is noise of depth and errors of poses.
///
/// Make one per capture; any number of threads may use it. Some thousand pixels on an even grid are
/// compared.
public struct DepthAgreement: Sendable {
  /// Absolute differences of depth.
  public struct Result: Hashable, Sendable {
    public var medianMillimeters: Double
    /// Nine of ten differences are at most this.
    public var ninthDecileMillimeters: Double
    /// In thousandths of the depth.
    public var medianPermille: Double
    public var ninthDecilePermille: Double
    /// Number of compared pixels.
    public var count: Int
  }

  private let camera: LensCamera
  private let colorFromDepth: RigidTransform
  /// Index in the frame and ray at z = 1 of each compared pixel.
  private let rays: [(index: Int, x: Double, y: Double)]

  /// Fewer common pixels tell nothing: the frames do not overlap.
  static let leastPixels = 100
  /// About as many pixels of a frame are compared.
  static let mostPixels = 4096

  /// Sizes and optional parts of the calibration as for `DepthAligner`.
  public init(
    calibration: DepthCalibration, depthSize: PictureSize, colorSize: PictureSize?
  ) throws(AlignmentError) {
    let cameras = try AlignmentCameras(
      calibration: calibration, depthSize: depthSize, colorSize: colorSize)
    camera = cameras.depth
    colorFromDepth = cameras.colorFromDepth
    let (width, height) = (camera.pinhole.width, camera.pinhole.height)
    var step = 1
    while (width / step) * (height / step) > Self.mostPixels { step += 1 }
    var rays: [(index: Int, x: Double, y: Double)] = []
    for row in stride(from: step / 2, to: height, by: step) {
      for column in stride(from: step / 2, to: width, by: step) {
        guard let ray = cameras.depth.ray(u: Double(column), v: Double(row)) else { continue }
        rays.append((row * width + column, ray.x, ray.y))
      }
    }
    self.rays = rays
  }

  /// - Parameters:
  ///   - depth: millimeters, 0 = none; of the size given to `init`, as `other` is.
  ///   - pose: the color camera's pose at `depth`, as recorded (before any turn).
  /// - Returns: `nil` if fewer than `leastPixels` pixels are measured in both frames. Surfaces that
  ///   only one frame sees count with whatever the other has in their place.
  public func compare(
    _ depth: Span<UInt16>, at pose: Pose, with other: Span<UInt16>, at otherPose: Pose
  ) -> Result? {
    let (width, height) = (camera.pinhole.width, camera.pinhole.height)
    guard depth.count == width * height, other.count == depth.count else { return nil }
    let otherFromDepth =
      (otherPose.worldFromCamera * colorFromDepth).inverse
      * (pose.worldFromCamera * colorFromDepth)
    let (r, t) = (otherFromDepth.rotation, otherFromDepth.translation)
    guard otherFromDepth.isFinite else { return nil }
    var millimeters: [Double] = []
    var permille: [Double] = []
    for ray in rays where depth[ray.index] != 0 {
      let z = Double(depth[ray.index]) / 1000
      let (x, y) = (ray.x * z, ray.y * z)
      let moved = (
        x: r[0] * x + r[1] * y + r[2] * z + t[0], y: r[3] * x + r[4] * y + r[5] * z + t[1],
        z: r[6] * x + r[7] * y + r[8] * z + t[2]
      )
      guard let place = camera.projection(x: moved.x, y: moved.y, z: moved.z) else { continue }
      let (u, v) = (place.u.rounded(), place.v.rounded())
      guard u >= 0, v >= 0, u < Double(width), v < Double(height) else { continue }
      let measured = other[Int(v) * width + Int(u)]
      guard measured != 0 else { continue }
      let difference = abs(moved.z * 1000 - Double(measured))
      millimeters.append(difference)
      permille.append(difference / moved.z)
    }
    millimeters.sort()
    permille.sort()
    guard millimeters.count >= Self.leastPixels,
      let medianMillimeters = Median.upper(ofSorted: millimeters),
      let medianPermille = Median.upper(ofSorted: permille)
    else { return nil }
    return Result(
      medianMillimeters: medianMillimeters,
      ninthDecileMillimeters: millimeters[millimeters.count * 9 / 10],
      medianPermille: medianPermille,
      ninthDecilePermille: permille[permille.count * 9 / 10], count: millimeters.count)
  }
}
