import Core

/// IEEE 754 half-precision numbers, by tables with an entry for every bit pattern.
public enum HalfFloat {
  /// The exact value of each of the 65,536 patterns, infinities and NaN included. 512 KiB, built at
  /// first use in about a millisecond.
  public static let doubles: [Double] = (0...UInt16.max).map {
    Double(Float16(bitPattern: $0))
  }

  /// Each pattern, in meters, as rounded millimeters; 0 for values out of range. 128 KiB.
  public static let millimeters: [UInt16] = doubles.map { Core.millimeters(fromMeters: $0) }
}
