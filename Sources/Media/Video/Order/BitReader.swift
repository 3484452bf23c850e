/// Reads the bits of a NAL unit (ITU-T H.264 and H.265, 7.3 and 9.1) after its header, without
/// emulation prevention bytes. Ends where the next start code begins.
///
/// After the end every value is `nil`.
struct BitReader {
  private let bytes: [UInt8]
  private var bit = 0

  /// - Parameter unit: the bytes from `first` on are read; may extend beyond the unit.
  init(_ unit: some Collection<UInt8>, skipping first: Int = 0) {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(unit.count)
    var zeros = 0
    for byte in unit.dropFirst(first) {
      if zeros >= 2 {
        if byte <= 1 { break }
        if byte == 3 {
          zeros = 0
          continue
        }
      }
      zeros = byte == 0 ? zeros + 1 : 0
      bytes.append(byte)
    }
    self.bytes = bytes
  }

  mutating func flag() -> Bool? { bits(1).map { $0 != 0 } }

  /// Up to 32 bits, the first one highest.
  mutating func bits(_ count: Int) -> Int? {
    guard count >= 0, count <= 32, bit + count <= bytes.count * 8 else { return nil }
    var value = 0
    for _ in 0..<count {
      value = value << 1 | Int(bytes[bit >> 3] >> UInt8(7 - bit & 7) & 1)
      bit += 1
    }
    return value
  }

  mutating func skip(_ count: Int) -> Bool {
    guard count >= 0, bit + count <= bytes.count * 8 else { return false }
    bit += count
    return true
  }

  /// An unsigned Exp-Golomb code, below 2^32 − 1.
  mutating func golomb() -> Int? {
    var zeros = 0
    while let bit = bits(1) {
      if bit == 1 { return bits(zeros).map { (1 << zeros) - 1 + $0 } }
      zeros += 1
      if zeros > 31 { return nil }
    }
    return nil
  }

  /// An unsigned Exp-Golomb code; `nil` above `limit`.
  mutating func golomb(upTo limit: Int) -> Int? {
    golomb().flatMap { $0 <= limit ? $0 : nil }
  }

  /// A signed Exp-Golomb code.
  mutating func signedGolomb() -> Int? {
    golomb().map { $0 % 2 == 1 ? ($0 + 1) / 2 : -$0 / 2 }
  }
}
