/// How many cameras took depth and color.
public enum CameraArrangement: Hashable, Sendable {
  /// Depth and color are one camera, or the device registers depth to color.
  case oneCamera
  /// Two cameras, some way apart.
  case twoCameras
}

extension DepthCalibration {
  /// `nil` where neither is stated: a color camera alone, or two cameras without what lies between them.
  ///
  /// The transform decides where there is one: a text form cannot say `registered`, and states the identity.
  public var arrangement: CameraArrangement? {
    if let colorFromDepth { return colorFromDepth.isIdentity ? .oneCamera : .twoCameras }
    return registered ? .oneCamera : nil
  }
}
