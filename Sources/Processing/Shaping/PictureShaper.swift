import Core

/// Gives upright RGB pictures of 8 or 16 bits a shape: undistorts them, then makes them smaller. One per worker; keeps
/// the last map and its memory from picture to picture.
public struct PictureShaper: Sendable {
  let shape: PictureShape
  private var latest: (camera: LensCamera, map: UndistortionMap)?
  private var reduction = AreaReduction()
  private var narrow = Memory<UInt8>()
  private var wide = Memory<UInt16>()

  /// Buffers that are reused from picture to picture.
  private struct Memory<Sample: PictureSample> {
    var undistorted: [Sample] = []
    var reduced: [Sample] = []
  }

  public init(_ shape: PictureShape) {
    self.shape = shape
  }

  /// The shaped picture with its size; `rgb` itself if nothing changes. Its memory is used again for
  /// the next picture.
  ///
  /// Cost: for undistortion some 5 ns a pixel, and 20 ns more when the camera is another one than for
  /// the picture before; for reduction some 3 ns a pixel.
  ///
  /// - Parameters:
  ///   - camera: the camera of this picture, for undistortion. For a picture of another size it is
  ///     scaled so that the outer borders stay in place.
  ///   - shared: a map that may be used in place of one of its own.
  public mutating func shaped(
    _ rgb: [UInt8], width: Int, height: Int, camera: LensCamera?,
    shared: (camera: LensCamera, map: UndistortionMap)? = nil
  ) throws(AlignmentError) -> (rgb: [UInt8], width: Int, height: Int) {
    let size = shape.size(width: width, height: height)
    let map = try map(width, height, camera, shared)
    map?.interpolate(rgb, into: &narrow.undistorted)
    let full = map == nil ? rgb : narrow.undistorted
    if (size.width, size.height) == (width, height) { return (full, width, height) }
    reduction.reduce(
      full, width: width, height: height, toWidth: size.width, height: size.height,
      into: &narrow.reduced)
    return (narrow.reduced, size.width, size.height)
  }

  /// Shapes a picture of 16 bits.
  public mutating func shaped(
    _ rgb: [UInt16], width: Int, height: Int, camera: LensCamera?,
    shared: (camera: LensCamera, map: UndistortionMap)? = nil
  ) throws(AlignmentError) -> (rgb: [UInt16], width: Int, height: Int) {
    let size = shape.size(width: width, height: height)
    let map = try map(width, height, camera, shared)
    map?.interpolate(rgb, into: &wide.undistorted)
    let full = map == nil ? rgb : wide.undistorted
    if (size.width, size.height) == (width, height) { return (full, width, height) }
    reduction.reduce(
      full, width: width, height: height, toWidth: size.width, height: size.height,
      into: &wide.reduced)
    return (wide.reduced, size.width, size.height)
  }

  /// The map of a picture of `width` × `height` pixels; `nil` if it is not undistorted.
  private mutating func map(
    _ width: Int, _ height: Int, _ camera: LensCamera?,
    _ shared: (camera: LensCamera, map: UndistortionMap)?
  ) throws(AlignmentError) -> UndistortionMap? {
    guard shape.undistorts, let camera else { return nil }
    let own =
      (camera.pinhole.width, camera.pinhole.height) == (width, height)
      ? camera : camera.scaled(toWidth: width, height: height)
    if let shared, shared.camera == own { return shared.map }
    if latest?.camera != own { latest = (own, try Self.map(own, shape)) }
    return latest?.map
  }

  /// The map of pictures of a camera before they are made smaller.
  public static func map(
    _ camera: LensCamera, _ shape: PictureShape
  ) throws(AlignmentError) -> UndistortionMap {
    guard let target = shape.fullSizeCamera(from: camera) else {
      throw .noUndistortedCamera(alpha: shape.alpha ?? 0)
    }
    return UndistortionMap(from: camera, to: target)
  }
}
