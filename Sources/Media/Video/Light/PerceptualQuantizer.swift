import Glibc

/// PQ, the transfer function of SMPTE ST 2084 (BT.2100, table 4).
public enum PerceptualQuantizer {
  /// The luminance of the signal 1, in candela per square meter.
  public static let peak = 10_000.0

  private static let m1 = 2610.0 / 16384
  private static let m2 = 2523.0 / 4096 * 128
  private static let c1 = 3424.0 / 4096
  private static let c2 = 2413.0 / 4096 * 32
  private static let c3 = 2392.0 / 4096 * 32

  /// The luminance of a signal of 0…1; others are cut.
  static func luminance(ofSignal signal: Double) -> Double {
    let power = pow(min(max(signal, 0), 1), 1 / m2)
    return peak * pow(max(power - c1, 0) / (c2 - c3 * power), 1 / m1)
  }

  /// The signal of a luminance of 0…10,000; others are cut.
  static func signal(ofLuminance luminance: Double) -> Double {
    let power = pow(min(max(luminance / peak, 0), 1), m1)
    return pow((c1 + c2 * power) / (1 + c3 * power), m2)
  }
}
