/// Colors for depth: near is red, far is blue, nothing is black.
///
/// The curve is Turbo, a rainbow of even perceived steps, as the fifth-degree polynomial published by
/// its author's colleagues (A. Mikhailov, Google, 2019; Apache 2.0).
public struct FalseColor: Sendable {
  /// Millimeters shown in the first and in the last color.
  public let nearMillimeters: Double
  public let farMillimeters: Double

  /// `far` is made at least 1 mm more than `near`.
  public init(nearMillimeters near: Double, farMillimeters far: Double) {
    nearMillimeters = near
    farMillimeters = max(far, near + 1)
  }

  /// 8-bit RGB of a depth; 0 (no measurement) is black, values outside the range take its ends.
  public func rgb(ofMillimeters depth: UInt16) -> (red: UInt8, green: UInt8, blue: UInt8) {
    guard depth > 0 else { return (0, 0, 0) }
    let share = (Double(depth) - nearMillimeters) / (farMillimeters - nearMillimeters)
    return Self.turbo(1 - min(max(share, 0), 1))
  }

  static func turbo(_ x: Double) -> (red: UInt8, green: UInt8, blue: UInt8) {
    func channel(_ c: [Double]) -> UInt8 {
      let value = c.reversed().reduce(0) { $0 * x + $1 }
      return UInt8((min(max(value, 0), 1) * 255).rounded())
    }
    return (
      channel([0.13572138, 4.61539260, -42.66032258, 132.13108234, -152.94239396, 59.28637943]),
      channel([0.09140261, 2.19418839, 4.84296658, -14.18503333, 4.27729857, 2.82956604]),
      channel([0.10667330, 12.64194608, -60.58204836, 110.36276771, -89.90310912, 27.34824973])
    )
  }
}
