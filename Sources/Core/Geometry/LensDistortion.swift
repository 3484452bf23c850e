/// Coefficients of a Brown–Conrady lens, five-term or rational (`k4…k6` ≠ 0); all zero is a pinhole.
///
/// With `r² = x² + y²` on the normalized plane and
/// `g = (1 + k1 r² + k2 r⁴ + k3 r⁶) / (1 + k4 r² + k5 r⁴ + k6 r⁶)`:
/// `x' = x g + 2 p1 x y + p2 (r² + 2 x²)`, `y' = y g + p1 (r² + 2 y²) + 2 p2 x y`.
public struct LensDistortion: Hashable, Sendable {
  public var k1 = 0.0
  public var k2 = 0.0
  public var p1 = 0.0
  public var p2 = 0.0
  public var k3 = 0.0
  public var k4 = 0.0
  public var k5 = 0.0
  public var k6 = 0.0

  public static let none = LensDistortion()

  public init() {}

  /// From a list in OpenCV's order `k1 k2 p1 p2 k3 k4 k5 k6`; missing ones are 0.
  public init(openCVOrder list: [Double]) {
    func at(_ i: Int) -> Double { i < list.count ? list[i] : 0 }
    (k1, k2, p1, p2) = (at(0), at(1), at(2), at(3))
    (k3, k4, k5, k6) = (at(4), at(5), at(6), at(7))
  }

  /// The coefficients in OpenCV's order.
  public var openCVOrder: [Double] { [k1, k2, p1, p2, k3, k4, k5, k6] }

  /// Whether every coefficient is 0.
  public var isNone: Bool { self == .none }
}
