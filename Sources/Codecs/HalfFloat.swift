import Geometry

/// IEEE 754 half-precision numbers by table: every bit pattern has its entry.
public enum HalfFloat {
  /// The exact value of each of the 65,536 patterns, infinities and NaN included; 512 KiB, built at
  /// first use in about a millisecond.
  public static let doubles: [Double] = (0...UInt16.max).map {
    Double(Float16(bitPattern: $0))
  }

  /// Each pattern read as meters and rounded to millimeters, 0 for what has no place there; 128 KiB.
  public static let millimeters: [UInt16] = doubles.map { Geometry.millimeters(fromMeters: $0) }
}
