/// A value of a picture of 8 or 16 bits, with what sums of such values need.
///
/// Conversions are requirements, because the generic ones of integers are slow. Code over samples is
/// specialized inside of this module only: what is public takes arrays of one type.
protocol PictureSample: FixedWidthInteger & UnsignedInteger & BitwiseCopyable & Sendable {
  /// Holds 2^22 times the largest value, as the weights of undistortion make it, and the sum of a row.
  associatedtype Sum: FixedWidthInteger & UnsignedInteger

  /// Exact.
  var float: Float { get }
  /// Rounded to 24 bits.
  static func float(_ sum: Sum) -> Float
  /// To nearest, halves up; what lies outside of the range becomes its end. Not for NaN.
  init(rounding value: Float)
}

extension UInt8: PictureSample {
  typealias Sum = UInt32

  var float: Float { Float(self) }

  static func float(_ sum: UInt32) -> Float { Float(sum) }

  init(rounding value: Float) { self = UInt8(Swift.max(0, Swift.min(255, value + 0.5))) }
}

extension UInt16: PictureSample {
  typealias Sum = UInt64

  var float: Float { Float(self) }

  // Sums stay far below 2^63, and the signed conversion is one instruction.
  static func float(_ sum: UInt64) -> Float { Float(Int64(truncatingIfNeeded: sum)) }

  init(rounding value: Float) {
    self = UInt16(Swift.max(0, Swift.min(65_535, value + 0.5)))
  }
}
