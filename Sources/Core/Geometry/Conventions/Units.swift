// Units of 16-bit depth pictures. In all of them 0 means no measurement.

extension DepthImage {
  /// TUM's unit is 1/5000 m.
  public static let tumUnitsPerMeter = 5000

  /// Millimeters in TUM's unit. Depths above 13,107 mm do not fit 16 bits and become 0.
  public static func tum(fromMillimeters pixels: [UInt16]) -> [UInt16] {
    pixels.map { $0 > 13_107 ? 0 : $0 &* 5 }
  }

  /// Number of pixels with a measurement: 0 is none.
  public static func measured(_ pixels: Span<UInt16>) -> Int {
    pixels.withUnsafeBufferPointer { pixels in
      pixels.reduce(0) { $0 + ($1 == 0 ? 0 : 1) }
    }
  }
}

/// Meters as whole millimeters: multiplied in double precision, rounded half away from zero; 0 for
/// values that are not finite, negative or above 65,535 after rounding.
@inlinable
public func millimeters(fromMeters meters: Double) -> UInt16 {
  let rounded = (meters * 1000).rounded(.toNearestOrAwayFromZero)
  return rounded >= 0 && rounded <= 65_535 ? UInt16(rounded) : 0
}

/// The sign of acceleration: a device at rest, face up, has specific force (0, 0, **+9.8**) m/s²
/// along device axes.
public enum SpecificForce {
  /// From CoreMotion's sign, which at rest points along gravity: all axes are negated, nothing is
  /// rescaled. m/s², device axes.
  public static func specificForce(
    fromCoreMotion acceleration: (x: Double, y: Double, z: Double)
  ) -> (x: Double, y: Double, z: Double) {
    // `0 - x` rather than `-x`, so that 0 does not become -0.
    (0 - acceleration.x, 0 - acceleration.y, 0 - acceleration.z)
  }

  /// From Android's sign, which is that of specific force.
  public static func specificForce(
    fromAndroid acceleration: (x: Double, y: Double, z: Double)
  ) -> (x: Double, y: Double, z: Double) { acceleration }

  /// m/s² per g, by definition (ISO 80000-3).
  static let metersPerSecondSquaredPerG = 9.80665

  /// Acceleration in units of standard gravity; the sign stays.
  public static func g(fromMetersPerSecondSquared value: Double) -> Double {
    value / metersPerSecondSquaredPerG
  }
}

// Times in the forms of other tools, made from the integer and never through a floating-point number.

extension Timestamp {
  /// Seconds with nine decimals: quotient and remainder of the nanoseconds. -1 ns is
  /// `-0.000000001`.
  public var decimalSeconds: String {
    let (seconds, rest) = nanoseconds.magnitude.quotientAndRemainder(dividingBy: 1_000_000_000)
    return (nanoseconds < 0 ? "-" : "") + String(seconds) + "." + rest.padded(9)
  }

  /// Seconds and nanoseconds as ROS states them: nanoseconds are 0 ..< 10⁹, also for times before
  /// 0.
  public var secondsAndNanoseconds: (seconds: Int64, rest: UInt32) {
    let (quotient, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
    return rest < 0 ? (quotient - 1, UInt32(rest + 1_000_000_000)) : (quotient, UInt32(rest))
  }

  /// Whether ROS 1 can represent the time: its seconds are unsigned 32-bit integers.
  public var isTimeOfROS1: Bool { (0..<(1 << 32) * 1_000_000_000).contains(nanoseconds) }

  /// Microseconds since the clock's zero, rounded down.
  public var microseconds: Int64 {
    let (quotient, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1000)
    return rest < 0 ? quotient - 1 : quotient
  }
}
