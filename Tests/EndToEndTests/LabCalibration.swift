import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing

/// The calibration of a capture as a file, with a lens for both cameras.
enum LabCalibration {
  /// In OpenCV's order: k1 k2 p1 p2 k3.
  static let coefficients = [-0.12, 0.03, 0.001, -0.002, 0.0]

  /// Writes `file` and returns the color camera in it.
  @discardableResult
  static func write(_ file: FilePath, of capture: FilePath) throws -> LensCamera {
    let inspection = try Program.run("inspect \(capture) --quick --json")
    var alignment = try inspection.json().object("alignment")
    let lens = Dictionary(uniqueKeysWithValues: zip(["k1", "k2", "p1", "p2", "k3"], coefficients))
    alignment["distortion"] = ["color": lens, "depth": lens]
    alignment["schema"] = 1
    try file.write(json: alignment)
    let camera = try alignment.object("colorIntrinsics")
    func number(_ key: String) throws -> Double { try #require(camera[key] as? Double, "\(key)") }
    return LensCamera(
      pinhole: PinholeCamera(
        width: Int(try number("width")), height: Int(try number("height")), fx: try number("fx"),
        fy: try number("fy"), cx: try number("cx"), cy: try number("cy")),
      distortion: LensDistortion(openCVOrder: coefficients))
  }
}
