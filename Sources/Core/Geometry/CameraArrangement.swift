/// How many cameras took depth and color.
public enum CameraArrangement: Hashable, Sendable {
  /// Depth and color are one camera, or the device registers depth to color.
  case oneCamera
  /// Two cameras at different positions, with a transform between them.
  case twoCameras
}

extension DepthCalibration {
  /// How depth and color relate; `nil` where nothing states it: a color camera alone, or two
  /// cameras without a transform.
  ///
  /// A stated transform decides: text formats have no key for `registered` and write the identity
  /// instead.
  public var arrangement: CameraArrangement? {
    if let colorFromDepth { return colorFromDepth.isIdentity ? .oneCamera : .twoCameras }
    return registered ? .oneCamera : nil
  }
}
