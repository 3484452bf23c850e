import Core

/// Appends numbers of a `.sens` file: little-endian, unaligned, no padding.
extension [UInt8] {
  mutating func sens<Number: FixedWidthInteger>(_ value: Number) {
    Swift.withUnsafeBytes(of: value.littleEndian) { append(contentsOf: $0) }
  }

  mutating func sens(_ value: Float) { sens(value.bitPattern) }
  mutating func sens(_ value: Double) { sens(value.bitPattern) }

  /// Appends sixteen numbers by rows, each rounded to a float.
  mutating func sens(matrix rowMajor: [Double]) {
    for number in rowMajor { sens(Float(number)) }
  }
}

/// Microseconds in `.sens`: 0 = none, also for times before the clock's zero, which it cannot
/// represent.
enum SensTime {
  static func microseconds(_ time: Timestamp?) -> UInt64 {
    time.map { UInt64(clamping: TimeText.microseconds($0)) } ?? 0
  }
}
