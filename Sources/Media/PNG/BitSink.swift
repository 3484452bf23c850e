/// Writes the bits of a deflate stream, lowest bit of each byte first.
///
/// Writes up to eight bytes past the last whole byte, so the memory must extend that far.
struct BitSink {
  /// Address of the first byte that is not complete.
  private(set) var position: UnsafeMutableRawPointer
  private(set) var bits: UInt64 = 0
  /// Number of valid bits in `bits`; at most 7 after `flush`.
  private(set) var bitCount: UInt64 = 0

  /// Continues from `bitCount` valid bits in `bits`, at most 7; the other bits must be 0.
  init(at position: UnsafeMutableRawPointer, bits: UInt64 = 0, bitCount: UInt64 = 0) {
    self.position = position
    self.bits = bits
    self.bitCount = bitCount
  }

  /// Appends the low `count` bits of `value`, whose other bits must be 0. At most 57 bits may be
  /// added between two flushes. Only the low six bits of `count` are used.
  @inline(__always)
  mutating func add(_ value: UInt64, count: UInt64) {
    bits |= value &<< bitCount
    bitCount &+= count & 63
  }

  /// Moves all whole bytes to memory.
  @inline(__always)
  mutating func flush() {
    position.storeBytes(of: bits.littleEndian, as: UInt64.self)
    position += Int(truncatingIfNeeded: bitCount &>> 3)
    bits = bits &>> (bitCount & 56)
    bitCount &= 7
  }

  mutating func put(_ value: Int, count: Int) {
    add(UInt64(truncatingIfNeeded: value), count: UInt64(truncatingIfNeeded: count))
    flush()
  }

  /// Fills the last byte with zero bits.
  mutating func alignToByte() {
    flush()
    if bitCount > 0 {
      bitCount = 8
      flush()
    }
  }

  /// Appends bytes; call only when aligned to a byte.
  mutating func append(_ source: UnsafeRawPointer, count: Int) {
    position.copyMemory(from: source, byteCount: count)
    position += count
  }
}
