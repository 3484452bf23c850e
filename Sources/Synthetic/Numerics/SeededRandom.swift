import CRendering
import Core

/// Random numbers that are the same on every machine: SplitMix64 (Steele, Lea, Flood, "Fast
/// splittable pseudorandom number generators", 2014).
///
/// Each generator is seeded with its purpose, so that drawing more numbers for one sensor never
/// changes those of another.
struct SeededRandom {
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

/// A table of 4,096 numbers with mean 0 and deviation 1, so that noise takes a lookup per pixel:
/// five from every 64 random bits. 16 KiB, which fits the first-level cache.
enum NoiseTable {
  static let indexBits = UInt64(SCANMILL_RENDER_NOISE_BITS)

  static let values: [Float] = {
    let count = 1 << Int(indexBits)
    var random = SeededRandom(seed: 0, "noise table")
    // In pairs of opposite sign, so that the mean is exactly 0.
    var half = (0..<(count / 2)).map { _ in random.gaussian() }
    let deviation = (half.reduce(0) { $0 + $1 * $1 } / Double(half.count)).squareRoot()
    half = half.map { $0 / deviation }
    return (half + half.map { -$0 }).map { Float($0) }
  }()
}

/// Makes names of devices and captures from the seed.
enum SeededNames {
  /// A random identifier in the usual form, upper case: `5F0C7A52-1D3B-4E86-9A47-2B6D8E90C1F0`.
  static func uuid(seed: UInt64, _ purpose: String) -> String {
    var random = SeededRandom(seed: seed, "uuid \(purpose)")
    var digits = hex(&random, count: 32).map { $0 }
    digits[12] = "4"
    digits[16] = "A"
    var text = ""
    for (index, digit) in digits.enumerated() {
      if [8, 12, 16, 20].contains(index) { text += "-" }
      text.append(digit)
    }
    return text.uppercased()
  }

  /// `count` lower-case hex digits.
  static func hex(seed: UInt64, _ purpose: String, count: Int) -> String {
    var random = SeededRandom(seed: seed, "hex \(purpose)")
    return hex(&random, count: count)
  }

  private static func hex(_ random: inout SeededRandom, count: Int) -> String {
    let digits = Array("0123456789abcdef")
    return String((0..<count).map { _ in digits[random.index(below: 16)] })
  }

  /// A time in 2026 that exists in every calendar: month, day, hour, minute, second.
  static func moment(seed: UInt64) -> Moment {
    var random = SeededRandom(seed: seed, "moment")
    return Moment(
      month: 1 + random.index(below: 12), day: 1 + random.index(below: 28),
      hour: 1 + random.index(below: 11), minute: random.index(below: 60),
      second: random.index(below: 60))
  }

  struct Moment {
    let year = 2026
    var month: Int
    var day: Int
    /// 1…11, the same on a 12-hour clock.
    var hour: Int
    var minute: Int
    var second: Int

    /// `2026-03-14`
    func date(_ separator: String = "-") -> String {
      [year.padded(4), month.padded(2), day.padded(2)]
        .joined(separator: separator)
    }

    /// `09-26-53`
    func time(_ separator: String = "-") -> String {
      [hour, minute, second].map { $0.padded(2) }.joined(separator: separator)
    }
  }
}

/// Formats numbers with a fixed number of decimals, as `%.6f` does.
enum Decimals {
  /// `1170.187988`, `-0.038214`, `0.000000`. Half a unit rounds away from zero. For magnitudes up to
  /// 10⁹ and at most 9 decimals.
  static func text(_ value: Double, _ decimals: Int) -> String {
    let scale = power(decimals)
    let units = Int64((value * Double(scale)).rounded(.toNearestOrAwayFromZero))
    let (whole, rest) = units.magnitude.quotientAndRemainder(dividingBy: UInt64(scale))
    let digits = String(rest)
    let zeros = String(repeating: "0", count: decimals - digits.count)
    let sign = units < 0 ? "-" : ""
    return decimals == 0 ? "\(sign)\(whole)" : "\(sign)\(whole).\(zeros)\(digits)"
  }

  /// The double that such a text reads back to.
  static func round(_ value: Double, _ decimals: Int) -> Double {
    Double(text(value, decimals)) ?? value
  }

  private static func power(_ exponent: Int) -> Int64 {
    (0..<exponent).reduce(1) { power, _ in power * 10 }
  }
}
