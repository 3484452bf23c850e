/// Everything that relates a depth camera to a color camera.
///
/// `colorFromDepth` maps depth-camera coordinates to color-camera coordinates, meters. A part that
/// was not recorded is `nil`.
public struct DepthCalibration: Hashable, Sendable {
  /// Whether depth and color share one camera (or the device registers depth to color).
  public var registered: Bool
  public var colorFromDepth: RigidTransform?
  public var depthIntrinsics: PinholeCamera?
  public var colorIntrinsics: PinholeCamera?
  public var depthDistortion: LensDistortion
  public var colorDistortion: LensDistortion

  public init(
    registered: Bool, colorFromDepth: RigidTransform? = nil, depthIntrinsics: PinholeCamera? = nil,
    colorIntrinsics: PinholeCamera? = nil, depthDistortion: LensDistortion = .none,
    colorDistortion: LensDistortion = .none
  ) {
    self.registered = registered
    self.colorFromDepth = colorFromDepth
    self.depthIntrinsics = depthIntrinsics
    self.colorIntrinsics = colorIntrinsics
    self.depthDistortion = depthDistortion
    self.colorDistortion = colorDistortion
  }

  /// Whether depth is that of the color camera, lens included, on a grid of its own.
  public var sharesCamera: Bool { registered && depthIntrinsics == nil }

  /// The lens through which depth was measured.
  public var effectiveDepthDistortion: LensDistortion {
    sharesCamera ? colorDistortion : depthDistortion
  }

  /// Whether the coefficients of a lens are known.
  public var statesLens: Bool { !depthDistortion.isNone || !colorDistortion.isNone }
}
