/// Converts between the two origins of pixel coordinates: center or outer corner of the corner
/// pixel.
enum PixelCenters {
  /// A coordinate from the outer corner of the corner pixel (COLMAP, nerfstudio), given one from
  /// that pixel's center (this project's tables, OpenCV).
  static func cornerPixel(fromCenterPixel coordinate: Double) -> Double { coordinate + 0.5 }
}

extension PinholeCamera {
  /// The principal point counted from the outer corner of the corner pixel, in pixels.
  public var cornerPrincipalPoint: (x: Double, y: Double) {
    (
      PixelCenters.cornerPixel(fromCenterPixel: cx), PixelCenters.cornerPixel(fromCenterPixel: cy)
    )
  }

  /// The 4×4 matrix of datasets, row-major: fx 0 cx 0 / 0 fy cy 0 / 0 0 1 0 / 0 0 0 1.
  public var rowMajor4x4: [Double] {
    [fx, 0, cx, 0, 0, fy, cy, 0, 0, 0, 1, 0, 0, 0, 0, 1]
  }

  /// The 3×3 matrix, row-major.
  public var rowMajor3x3: [Double] { [fx, 0, cx, 0, fy, cy, 0, 0, 1] }

  /// The 3×3 matrix, column-major, as Open3D's `intrinsic_matrix` lists it.
  public var columnMajor3x3: [Double] { [fx, 0, 0, 0, fy, 0, cx, cy, 1] }

  /// The 3×4 projection of a picture that was not rectified, row-major: ROS's P.
  public var projection3x4: [Double] { [fx, 0, cx, 0, 0, fy, cy, 0, 0, 0, 1, 0] }
}
