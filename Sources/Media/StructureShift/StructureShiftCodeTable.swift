/// Decodes the next ten bits of a stream, several short codes at once.
///
/// Neighboring depth pixels differ by little, so most codes have two bits and a lookup gives up to
/// five pixels. An entry without pixels stands for a run or a literal, which the decoder reads
/// separately.
struct StructureShiftCodeTable: Sendable {
  static let indexBits = 10
  static let shared = StructureShiftCodeTable()

  /// What to add to the predictor for each of the next pixels; lanes after the last pixel are
  /// unused. 16 KiB, which fits the first-level cache.
  private(set) var deltas: [SIMD8<UInt16>]
  private(set) var steps: [Step]

  /// Number of bits and pixels of an entry.
  struct Step: Sendable {
    var bits: UInt8 = 0
    var pixels: UInt8 = 0
    /// Sum of the pixels' changes, wrapping.
    var change: UInt16 = 0
  }

  private init() {
    let size = 1 << Self.indexBits
    deltas = Array(repeating: .zero, count: size)
    steps = Array(repeating: Step(), count: size)
    for index in 0..<size {
      var step = Step()
      while let (bits, change) = Self.shortCode(in: index, after: Int(step.bits)) {
        step.bits += UInt8(bits)
        step.change &+= UInt16(truncatingIfNeeded: change)
        deltas[index][Int(step.pixels)] = step.change
        step.pixels += 1
      }
      steps[index] = step
    }
  }

  /// The code of a single small change at bit `position` of `index`, if it ends inside `index`.
  private static func shortCode(in index: Int, after position: Int) -> (bits: Int, change: Int)? {
    let left = indexBits - position
    let rest = index & ((1 << left) - 1)
    if left >= 2 {
      switch rest >> (left - 2) {
      case 0b00: return (2, 0)
      case 0b10: return (2, -1)
      case 0b11: return (2, 1)
      default: break
      }
    }
    guard left >= 5 else { return nil }
    switch rest >> (left - 5) {
    case 0b01100: return (5, -2)
    case 0b01101: return (5, 2)
    default: return nil
    }
  }
}
