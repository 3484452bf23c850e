/// How published color pictures differ from those of the camera: first undistorted, then made smaller.
///
/// Everything here is about upright pictures. `PictureShape()` leaves pictures as they are.
public struct PictureShape: Hashable, Sendable {
  /// Whether the pictures are those of a pinhole.
  public var undistorts: Bool
  /// Which pinhole: `nil` keeps the camera's own intrinsics; 0 shows no pixel without source, 1 all of
  /// the source (OpenCV's `getOptimalNewCameraMatrix`). 0…1.
  public var alpha: Double?
  /// The size of the pictures; `nil` keeps it.
  public var sizing: PictureSizing?

  public init(undistorts: Bool = false, alpha: Double? = nil, sizing: PictureSizing? = nil) {
    self.undistorts = undistorts
    self.alpha = alpha
    self.sizing = sizing
  }

  /// Whether pictures stay as they are.
  public var isAsRecorded: Bool { !undistorts && sizing == nil }

  /// The size of a picture of `width` × `height` pixels.
  public func size(width: Int, height: Int) -> (width: Int, height: Int) {
    sizing?.size(width: width, height: height) ?? (width, height)
  }

  /// The pinhole of the undistorted picture before it is made smaller; the camera's own without
  /// undistortion. `nil` if the lens has no ray at the picture's border, which `alpha` needs.
  public func fullSizeCamera(from camera: LensCamera) -> PinholeCamera? {
    guard undistorts, let alpha else { return camera.pinhole }
    return camera.undistortedPinhole(alpha: alpha)
  }

  /// The camera of the published picture: intrinsics by the half-pixel rule, without lens terms if the
  /// picture is undistorted. `nil` as for `fullSizeCamera`.
  public func camera(from camera: LensCamera) -> LensCamera? {
    guard let full = fullSizeCamera(from: camera) else { return nil }
    let size = size(width: full.width, height: full.height)
    return LensCamera(
      pinhole: (size.width, size.height) == (full.width, full.height)
        ? full : full.scaled(toWidth: size.width, height: size.height),
      distortion: undistorts ? .none : camera.distortion)
  }
}
