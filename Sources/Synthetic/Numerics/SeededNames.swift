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
      [Decimals.padded(year, 4), Decimals.padded(month, 2), Decimals.padded(day, 2)]
        .joined(separator: separator)
    }

    /// `09-26-53`
    func time(_ separator: String = "-") -> String {
      [hour, minute, second].map { Decimals.padded($0, 2) }.joined(separator: separator)
    }
  }
}
