@testable import Core
import TestSupport

/// Lenses of real devices and shapes that are hard on a solver, with a camera each.
enum LensExamples {
  static let azureDepth = camera(
    width: 640, height: 576, fx: 504.6076, fy: 504.7325, cx: 332.7811, cy: 348.8297,
    [
      0.5479397773742676, -0.020971370860934258, 2.0557534298859537e-05, -7.210415787994862e-05,
      -0.002652231603860855, 0.8896790742874146, 0.08613020926713943, -0.013910384848713875,
    ])
  static let azureColor = camera(
    width: 1280, height: 720, fx: 611.7953, fy: 611.9270, cx: 639.3043, cy: 365.8529,
    [
      0.33012130856513977, -2.489396572113037, -0.00016178244550246745, -0.00012944525224156678,
      1.453670859336853, 0.20891207456588745, -2.302915096282959, 1.3751275539398193,
    ])
  static let structureColor = camera(
    width: 1296, height: 968, fx: 1170.188, fy: 1170.188, cx: 647.75, cy: 483.75,
    [0.0712, -0.153, 0.0011, -0.0008, 0.0561])
  static let barrel = camera(
    width: 640, height: 480, fx: 285.7, fy: 285.7, cx: 319.5, cy: 239.5,
    [-0.09, 0.11, 6e-4, -4e-4, -0.03])
  static let folding = camera(
    width: 324, height: 242, fx: 243, fy: 243.243, cx: 160.8, cy: 121.6, [-0.34, 0.04])
  static let pinhole = camera(
    width: 640, height: 480, fx: 577.87, fy: 577.87, cx: 319.5, cy: 239.5, [])

  static let all = [azureDepth, azureColor, structureColor, barrel, folding, pinhole]

  private static func camera(
    width: Int, height: Int, fx: Double, fy: Double, cx: Double, cy: Double, _ lens: [Double]
  ) -> LensCamera {
    LensCamera(
      pinhole: PinholeCamera(width: width, height: height, fx: fx, fy: fy, cx: cx, cy: cy),
      distortion: LensDistortion(openCVOrder: lens))
  }
}
