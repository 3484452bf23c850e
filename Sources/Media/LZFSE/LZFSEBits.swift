/// Bits of a payload, which is read from its end to its start, at most 56 between two refills.
struct LZFSEBits {
  private let input: UnsafeRawPointer
  /// Where the next bytes end. Never below 0.
  private var at: Int
  private var bits: UInt64
  private var available: Int

  /// - Parameters:
  ///   - end: where the payload ends in `input`.
  ///   - unused: -7…0.
  /// - Returns: `nil` where fewer bytes lie before the end than are read at once, or the unused bits are not zero.
  init?(_ input: UnsafeRawPointer, end: Int, unused: Int) {
    self.input = input
    if unused == 0 {
      guard end >= 8 else { return nil }
      at = end - 7
      bits =
        UInt64(littleEndian: input.loadUnaligned(fromByteOffset: end - 8, as: UInt64.self)) >> 8
      available = 56
    } else {
      guard end >= 8 else { return nil }
      at = end - 8
      bits = UInt64(littleEndian: input.loadUnaligned(fromByteOffset: at, as: UInt64.self))
      available = 64 + unused
    }
    guard bits >> UInt64(available) == 0 else { return nil }
  }

  /// Makes at least 56 bits available. `false` at the start of the input.
  @inline(__always)
  mutating func refill() -> Bool {
    let count = (63 &- available) & -8
    // Otherwise the eight bytes might end behind the payload.
    if count == 0 { return true }
    let next = at &- (count >> 3)
    guard next >= 0 else { return false }
    at = next
    let more = UInt64(littleEndian: input.loadUnaligned(fromByteOffset: next, as: UInt64.self))
    bits = (bits &<< UInt64(truncatingIfNeeded: count)) | Self.low(more, count)
    available &+= count
    return true
  }

  /// At most what is available.
  @inline(__always)
  mutating func pull(_ count: Int) -> Int {
    available &-= count
    let value = bits &>> UInt64(truncatingIfNeeded: available)
    bits = Self.low(bits, available)
    return Int(truncatingIfNeeded: value)
  }

  /// The lowest 0…63 bits.
  @inline(__always)
  private static func low(_ bits: UInt64, _ count: Int) -> UInt64 {
    bits & ((1 &<< UInt64(truncatingIfNeeded: count)) &- 1)
  }
}
