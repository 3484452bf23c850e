import Media

/// Seeded damage to the bytes of a file, the same for the same seed everywhere.
struct Mutations: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  /// SplitMix64.
  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var z = state
    z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
    z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
    return z ^ (z >> 31)
  }

  mutating func below(_ count: Int) -> Int { Int.random(in: 0..<max(1, count), using: &self) }

  /// `bytes` with one to four kinds of damage; `other` is a whole file of the same kind.
  mutating func damaged(_ bytes: [UInt8], other: [UInt8]) -> [UInt8] {
    var result = bytes
    for _ in 0...below(4) { damage(&result, other) }
    return result
  }

  private mutating func damage(_ bytes: inout [UInt8], _ other: [UInt8]) {
    // Headers are short, and most of what is believed stands in them.
    let place = below(below(2) == 0 ? bytes.count : min(bytes.count, 400))
    switch below(8) {
    case 0: bytes.removeLast(bytes.count - min(place, bytes.count))
    case 1, 2:
      for _ in 0...below(8) where !bytes.isEmpty {
        bytes[below(bytes.count)] ^= 1 << UInt8(below(8))
      }
    case 3:
      guard place < bytes.count else { return }
      bytes[place] = below(3) == 0 ? 0xFF : UInt8(below(256))
    case 4:
      let numbers: [[UInt8]] = [
        [0xFF, 0xFF, 0xFF, 0xFF], [0x7F, 0xFF, 0xFF, 0xFF], [0xFF, 0xFF, 0xFF, 0x7F], [0, 0, 0, 0],
        [0, 0, 0, 0x80], [1, 0, 0, 0], Array("1e308".utf8), Array("-1".utf8),
        Array("99999999999999999999".utf8), Array("NaN".utf8), Array("]}".utf8),
      ]
      for (offset, byte) in numbers[below(numbers.count)].enumerated()
      where place + offset < bytes.count {
        bytes[place + offset] = byte
      }
    case 5:
      let end = min(bytes.count, place + 1 + below(64))
      guard place < end else { return }
      let piece = Array(bytes[place..<end])
      bytes.insert(contentsOf: piece, at: below(bytes.count))
    case 6:
      let end = min(bytes.count, place + 1 + below(64))
      guard place < end else { return }
      bytes.removeSubrange(place..<end)
    default:
      // The beginning of one file and the end of another.
      bytes = Array(bytes.prefix(place)) + other.suffix(below(other.count))
    }
  }

  /// A PNG file with the checksums that its damaged chunks need, as far as it has chunks.
  static func mendingPNG(_ bytes: [UInt8]) -> [UInt8] {
    var result = bytes
    var start = 8
    while result.count - start >= 12 {
      let length = result[start..<start + 4].reduce(0) { $0 << 8 | Int($1) }
      guard length <= result.count - start - 12 else { break }
      let end = start + 8 + length
      var checksum = CRC32()
      checksum.update(Array(result[start + 4..<end]))
      for byte in 0..<4 {
        result[end + byte] = UInt8(truncatingIfNeeded: checksum.value >> (24 - 8 * UInt32(byte)))
      }
      start = end + 4
    }
    return result
  }
}
