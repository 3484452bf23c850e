import Core

/// The camera of depth pictures on their own grid.
public enum DepthLens {
  /// The depth camera with its lens. Depth that shares the color camera has that of color on its grid.
  ///
  /// Throws `notApplicable` if neither is known, and `sizeMismatch` for another aspect.
  ///
  /// - Parameters:
  ///   - size: size of the depth pictures.
  ///   - colorSize: size of the color pictures before any turn; `nil` = that of the calibration.
  public static func camera(
    _ calibration: DepthCalibration, size: PictureSize, colorSize: PictureSize?
  ) throws(AlignmentError) -> LensCamera {
    if let fault = calibration.firstFault { throw .invalidValue(fault) }
    if let stated = calibration.depthIntrinsics {
      guard let fitted = stated.fitted(toWidth: size.width, height: size.height) else {
        throw .sizeMismatch(camera: .depth, calibration: PictureSize(stated), picture: size)
      }
      return LensCamera(pinhole: fitted, distortion: calibration.depthDistortion)
    }
    guard calibration.sharesCamera, let color = calibration.colorIntrinsics else {
      throw .notApplicable(missing: ["depthIntrinsics"])
    }
    let colorSize = colorSize ?? PictureSize(color)
    guard let fitted = color.fitted(toWidth: colorSize.width, height: colorSize.height) else {
      throw .sizeMismatch(camera: .color, calibration: PictureSize(color), picture: colorSize)
    }
    return LensCamera(
      pinhole: fitted.scaled(toWidth: size.width, height: size.height),
      distortion: calibration.colorDistortion)
  }
}
