@testable import Media
import TestSupport

extension SeededGenerator {
  /// A frame with every kind of code in it: small steps, jumps, runs of all lengths.
  mutating func frame(pixels count: Int) -> [UInt16] {
    var shifts: [UInt16] = []
    var value = 0
    while shifts.count < count {
      switch Int.random(in: 0..<8, using: &self) {
      case 0: value = Int.random(in: 0...2047, using: &self)
      case 1:
        let run = Int.random(in: 1...90, using: &self)
        for _ in 0..<run { shifts.append(UInt16(value)) }
      default: value = min(max(value + Int.random(in: -3...3, using: &self), 0), 2047)
      }
      shifts.append(UInt16(value))
    }
    return Array(shifts.prefix(count))
  }
}

/// The decoder as the table of codes reads, bit by bit: slow and plain, to compare with.
func decodePlainly(_ payload: [UInt8], pixels: Int) -> (shifts: [UInt16], bits: Int)? {
  var shifts: [UInt16] = []
  var position = 0
  var predictor: UInt16 = 0
  func take(_ count: Int) -> Int? {
    guard position + count <= payload.count * 8 else { return nil }
    var value = 0
    for _ in 0..<count {
      value = value << 1 | Int(payload[position / 8] >> UInt8(7 - position % 8) & 1)
      position += 1
    }
    return value
  }
  while shifts.count < pixels {
    guard let first = take(2) else { return nil }
    switch first {
    case 0b00: shifts.append(predictor)
    case 0b10, 0b11:
      predictor = first == 0b11 ? predictor &+ 1 : predictor &- 1
      shifts.append(predictor)
    default:
      guard let third = take(1) else { return nil }
      if third == 0 {
        guard let length = take(5) else { return nil }
        for _ in 0..<(length + 5) { shifts.append(predictor) }
      } else {
        guard let fourth = take(1) else { return nil }
        if fourth == 1 {
          guard let value = take(11) else { return nil }
          predictor = UInt16(value)
        } else {
          guard let sign = take(1) else { return nil }
          predictor = sign == 1 ? predictor &+ 2 : predictor &- 2
        }
        shifts.append(predictor)
      }
    }
  }
  return shifts.count == pixels ? (shifts, position) : nil
}

/// Decodes with the decoder under test into a buffer that held something else before.
func decodeShifts(
  _ payload: [UInt8], pixels: Int, prefix: Bool = false
) -> (outcome: StructureShiftOutcome, shifts: [UInt16]) {
  var shifts = [UInt16](repeating: 0xABCD, count: pixels)
  var target = shifts.mutableSpan
  let bytes = payload.span.bytes
  let outcome =
    prefix
    ? StructureShiftDecoder.decodePrefix(of: bytes, into: &target)
    : StructureShiftDecoder.decode(bytes, into: &target)
  return (outcome, shifts)
}
