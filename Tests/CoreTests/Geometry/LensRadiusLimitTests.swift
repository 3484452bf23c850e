@testable import Core
import TestSupport
import Testing

@Suite("Radius limit of a lens")
struct LensRadiusLimitTests {
  @Test(
    "Known lenses end where their map stops growing",
    arguments: [
      ([], Double.infinity),
      ([0.1, 0.05], .infinity),
      // 1 − 1.02 s + 0.2 s² = 0
      ([-0.34, 0.04], 1.150754),
      // 1 − 3 s / 4 = 0
      ([-0.25], (4.0 / 3).squareRoot()),
      // The denominator 1 − s / 4 vanishes at r = 2; up to there the map grows.
      ([0, 0, 0, 0, 0, -0.25], 2),
      // r / (1 + s) has its top at r = 1.
      ([0, 0, 0, 0, 0, 1], 1),
      // The map turns at r = 11.5, beyond what is searched.
      ([-1 / 397.0], .infinity),
      // Tangential terms do not matter.
      ([-0.25, 0, 0.1, 0.1], (4.0 / 3).squareRoot()),
    ] as [([Double], Double)])
  func known(list: [Double], limit: Double) {
    let found = LensDistortion(openCVOrder: list).radiusLimit
    if limit.isInfinite { #expect(found == limit) } else { #expect(abs(found - limit) < 1e-6) }
  }

  @Test("The limit is where a fine scan sees the map fall, for lenses drawn at random")
  func againstScan() {
    var generator = SeededGenerator(seed: 7)
    var limited = 0
    for _ in 0..<200 {
      let list = (0..<8).map { _ in Double.random(in: -0.4...0.4, using: &generator) }
      let lens = LensDistortion(openCVOrder: list)
      let scanned = Self.scan(lens)
      let found = lens.radiusLimit
      if scanned.isInfinite {
        #expect(found.isInfinite)
      } else {
        limited += 1
        #expect(abs(found - scanned) < 3e-3, "\(list)")
      }
    }
    #expect(limited > 100)
  }

  /// First step of 0.001 at which r g does not grow or the denominator is not positive.
  private static func scan(_ k: LensDistortion) -> Double {
    var last = 0.0
    for step in 1...10_000 {
      let r = Double(step) * 1e-3
      let s = r * r
      let d = 1 + k.k4 * s + k.k5 * s * s + k.k6 * s * s * s
      let value = r * (1 + k.k1 * s + k.k2 * s * s + k.k3 * s * s * s) / d
      if d <= 0 || value <= last { return r }
      last = value
    }
    return .infinity
  }
}
