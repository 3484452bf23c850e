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

/// A number in a calibration that cannot be true.
public struct CalibrationFault: Error, Hashable, CustomStringConvertible {
  /// The key as the calibration's JSON form spells it, such as `depthIntrinsics.fx`.
  public var key: String
  /// The value as it was read.
  public var value: String
  /// What the value would have to be.
  public var rule: String

  public init(key: String, value: String, rule: String) {
    self.key = key
    self.value = value
    self.rule = rule
  }

  public var description: String { "\(key) is \(value), but must be \(rule)" }
}

extension DepthCalibration {
  /// Longest side of a camera's picture, pixels. A larger number is treated as damage.
  public static let largestSide = 16_384
  /// Most pixels in a camera's picture, 64 Mi: bounds what is allocated from a calibration.
  public static let largestArea = 1 << 26

  /// The first value that cannot be true, in the order transform, depth camera, color camera; parts
  /// that are absent are not judged.
  ///
  /// A rotation must satisfy `RᵀR = I` within 1e-3 with a positive determinant: six printed decimals
  /// pass. Focal lengths must be positive, sizes 1 to `largestSide`, every number finite.
  public var firstFault: CalibrationFault? {
    transformFault
      ?? depthIntrinsics.flatMap { Self.fault(in: $0, key: "depthIntrinsics") }
      ?? colorIntrinsics.flatMap { Self.fault(in: $0, key: "colorIntrinsics") }
      ?? Self.fault(in: depthDistortion, key: "distortion.depth")
      ?? Self.fault(in: colorDistortion, key: "distortion.color")
  }

  /// A message about a value that is possible but unlikely, such as a baseline of meters; `nil`
  /// without one.
  public var suspicion: String? {
    guard let baseline = colorFromDepth?.baselineMeters, baseline > Self.largestBaselineMeters
    else {
      return nil
    }
    let length = (baseline * 1000).rounded() / 1000
    return
      "colorFromDepth moves by \(length) m: the translation is in meters, and this one may be in "
      + "millimeters"
  }

  /// Baselines above this are reported as suspicious.
  static let largestBaselineMeters = 2.0

  private var transformFault: CalibrationFault? {
    guard let transform = colorFromDepth else { return nil }
    if let (index, value) = transform.rowMajor.enumerated().first(where: { !$0.element.isFinite }) {
      return CalibrationFault(key: "colorFromDepth[\(index)]", value: "\(value)", rule: "finite")
    }
    guard transform.isRigid(within: 1e-3) else {
      return CalibrationFault(
        key: "colorFromDepth", value: "\(transform.rowMajor)",
        rule: "a rotation (RᵀR = I within 0.001, determinant positive) and a translation")
    }
    return nil
  }

  private static func fault(in camera: PinholeCamera, key: String) -> CalibrationFault? {
    for (name, side) in [("width", camera.width), ("height", camera.height)] {
      guard (1...largestSide).contains(side) else {
        return CalibrationFault(
          key: "\(key).\(name)", value: "\(side)", rule: "1 to \(largestSide) pixels")
      }
    }
    guard camera.width * camera.height <= largestArea else {
      return CalibrationFault(
        key: "\(key).width × height", value: "\(camera.width)×\(camera.height)",
        rule: "at most \(largestArea) pixels")
    }
    for (name, focal) in [("fx", camera.fx), ("fy", camera.fy)] {
      guard focal.isFinite, focal > 0 else {
        return CalibrationFault(
          key: "\(key).\(name)", value: "\(focal)", rule: "above 0 and finite")
      }
    }
    for (name, center) in [("cx", camera.cx), ("cy", camera.cy)] where !center.isFinite {
      return CalibrationFault(key: "\(key).\(name)", value: "\(center)", rule: "finite")
    }
    return nil
  }

  private static func fault(in lens: LensDistortion, key: String) -> CalibrationFault? {
    let names = ["k1", "k2", "p1", "p2", "k3", "k4", "k5", "k6"]
    for (name, value) in zip(names, lens.openCVOrder) where !value.isFinite {
      return CalibrationFault(key: "\(key).\(name)", value: "\(value)", rule: "finite")
    }
    return nil
  }
}
