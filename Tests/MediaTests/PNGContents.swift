import TestSupport
import Testing

/// Contents that are hard on an encoder, of any size, the same in every run.
enum PNGContent: String, CaseIterable, CustomTestStringConvertible {
  case zero, constant, noise, checkerboard, ramp, smallNoise, rare, lines

  var testDescription: String { rawValue }

  /// `count` values of 16 bits in rows of `rowLength`; narrower formats take the low byte.
  func values(count: Int, rowLength: Int) -> [UInt16] {
    var random = SeededGenerator(seed: UInt64(count) &* 31 &+ UInt64(rowLength))
    return (0..<count).map { index in
      let x = index % rowLength
      let y = index / rowLength
      switch self {
      case .zero: return 0
      case .constant: return 0x1234
      case .noise: return UInt16(truncatingIfNeeded: random.next())
      case .checkerboard: return (x + y).isMultiple(of: 2) ? 0 : 0xffff
      case .ramp: return UInt16(truncatingIfNeeded: x &* 3 &+ y &* 5)
      case .smallNoise: return UInt16(truncatingIfNeeded: 1000 + x / 4) &+ UInt16(random.next() % 7)
      case .rare: return random.next() % 997 == 0 ? UInt16(truncatingIfNeeded: random.next()) : 7
      case .lines: return y % 8 == 0 ? UInt16(truncatingIfNeeded: random.next()) : 0
      }
    }
  }
}
