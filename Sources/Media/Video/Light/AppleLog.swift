import Glibc

/// The transfer function of Apple Log (Apple Log Profile, 2023), whose primaries are those of BT.2020.
enum AppleLog {
  private static let r0 = -0.05641088
  private static let rt = 0.01
  private static let c = 47.28711236
  private static let beta = 0.00964052
  private static let gamma = 0.08550479
  private static let delta = 0.69336945

  /// Scene light of a signal: 0.18 is a gray card, 1 a white one, 12 the signal 1. Some signals near 0
  /// stand for less than no light, because the sensor's noise lies on both sides of black.
  static func light(ofSignal signal: Double) -> Double {
    if signal >= c * (rt - r0) * (rt - r0) { return exp2((signal - delta) / gamma) - beta }
    return signal > 0 ? (signal / c).squareRoot() + r0 : r0
  }
}
