/// Random numbers that are the same on every machine: SplitMix64 (Steele, Lea, Flood, "Fast
/// splittable pseudorandom number generators", 2014).
///
/// Each generator is seeded with its purpose, so that drawing more numbers for one sensor never
/// changes those of another.
struct SeededRandom: Sendable {
  /// A number for a call of `next` before it is scrambled: grows by the same step at each call.
  private(set) var state: UInt64

  init(seed: UInt64, _ purpose: String) {
    // FNV-1a over the purpose, then over the seed, each mixed once.
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in purpose.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    state = Self.scramble(hash) ^ Self.scramble(seed &+ 0x9e37_79b9_7f4a_7c15)
  }

  /// The generator of one row of one frame.
  init(key: UInt64, frame: Int, row: Int) {
    state = Self.scramble(
      key &+ UInt64(truncatingIfNeeded: frame) &* 0xd134_2543_de82_ef95
        &+ UInt64(truncatingIfNeeded: row) &* 0xaf25_1af3_b0f0_25b5)
  }

  @inline(__always)
  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    return Self.scramble(state)
  }

  /// 0 ≤ value < 1, in steps of 2⁻⁵³.
  mutating func unit() -> Double {
    Double(next() >> 11) * 0x1p-53
  }

  mutating func uniform(_ range: ClosedRange<Double>) -> Double {
    range.lowerBound + (range.upperBound - range.lowerBound) * unit()
  }

  /// 0 ≤ value < `count`.
  mutating func index(below count: Int) -> Int {
    Int(unit() * Double(count))
  }

  /// Mean 0, deviation 1, within ±6: the sum of twelve uniform numbers, because logarithms and
  /// cosines of different C libraries differ in the last bit.
  mutating func gaussian() -> Double {
    var sum = -6.0
    for _ in 0..<12 { sum += unit() }
    return sum
  }

  @inline(__always)
  static func scramble(_ value: UInt64) -> UInt64 {
    var z = value
    z = (z ^ (z &>> 30)) &* 0xbf58_476d_1ce4_e5b9
    z = (z ^ (z &>> 27)) &* 0x94d0_49bb_1331_11eb
    return z ^ (z &>> 31)
  }
}
