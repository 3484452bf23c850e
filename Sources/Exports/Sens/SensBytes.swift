import Geometry

/// The numbers of a `.sens` file: little-endian, unaligned, no padding.
extension [UInt8] {
  mutating func sens<Number: FixedWidthInteger>(_ value: Number) {
    Swift.withUnsafeBytes(of: value.littleEndian) { append(contentsOf: $0) }
  }

  mutating func sens(_ value: Float) { sens(value.bitPattern) }
  mutating func sens(_ value: Double) { sens(value.bitPattern) }

  /// Sixteen numbers by rows, each the nearest float.
  mutating func sens(matrix rowMajor: [Double]) {
    for number in rowMajor { sens(Float(number)) }
  }
}

/// Microseconds as `.sens` has them: 0 = none, also for a time before the clock's zero, which it cannot state.
enum SensTime {
  static func microseconds(_ time: Timestamp?) -> UInt64 {
    time.map { UInt64(clamping: TimeText.microseconds($0)) } ?? 0
  }
}
