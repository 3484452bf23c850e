import Captures
import Geometry

/// Which calibration is in force for a capture, in words.
public enum CalibrationSummary {
  public static func text(_ capture: Capture) -> String {
    guard let calibration = capture.alignment else { return "none: no depth to align" }
    if calibration.registered { return "the capture's own: depth and color share one camera" }
    var missing: [String] = []
    if calibration.colorIntrinsics == nil { missing.append("color intrinsics") }
    if calibration.depthIntrinsics == nil { missing.append("depth intrinsics") }
    if calibration.colorFromDepth == nil { missing.append("extrinsics") }
    return missing.isEmpty
      ? "the capture's own, nominal" : "incomplete: no " + missing.joined(separator: ", no ")
  }
}
