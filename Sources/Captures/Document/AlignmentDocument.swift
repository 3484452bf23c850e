import Core

/// The `alignment` object of `capture.json`, which is also the JSON form of a calibration file.
public struct AlignmentDocument: Encodable, Sendable {
  private let calibration: DepthCalibration

  public init(_ calibration: DepthCalibration) {
    self.calibration = calibration
  }

  public func encode(to encoder: any Encoder) throws {
    var object = encoder.container(keyedBy: CaptureDocument.Key.self)
    try object.encode(1, forKey: "schema")
    try object.encode(calibration.registered, forKey: "registered")
    try object.encode(calibration.colorFromDepth?.rowMajor, forKey: "colorFromDepth")
    try object.encode(calibration.depthIntrinsics, forKey: "depthIntrinsics")
    try object.encode(calibration.colorIntrinsics, forKey: "colorIntrinsics")
    let lenses = ["depth": calibration.depthDistortion, "color": calibration.colorDistortion]
    if calibration.statesLens {
      try object.encode(lenses.mapValues(Self.coefficients), forKey: "distortion")
    } else {
      try object.encodeNil(forKey: "distortion")
    }
  }

  private static func coefficients(_ lens: LensDistortion) -> [String: Double] {
    let names = ["k1", "k2", "p1", "p2", "k3", "k4", "k5", "k6"]
    return Dictionary(uniqueKeysWithValues: zip(names, lens.openCVOrder))
  }
}
