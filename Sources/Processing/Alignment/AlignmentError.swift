import Core

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
