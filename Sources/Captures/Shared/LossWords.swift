import Core

/// Lists of frames in messages.
enum NumberWords {
  /// `9, 10 and 13`; runs of three and more as `5 to 12`; of long lists the first entries.
  static func list(_ numbers: [Int], most: Int = 8) -> String {
    var runs: [ClosedRange<Int>] = []
    for number in numbers {
      if let last = runs.last, last.upperBound + 1 == number {
        runs[runs.count - 1] = last.lowerBound...number
      } else {
        runs.append(number...number)
      }
    }
    var words = runs.flatMap { run in
      run.count > 2 ? ["\(run.lowerBound) to \(run.upperBound)"] : run.map { "\($0)" }
    }
    if words.count > most { words = words.prefix(most - 1) + ["further ones"] }
    guard let last = words.popLast() else { return "" }
    return words.isEmpty ? last : words.joined(separator: ", ") + " and " + last
  }
}

/// What a message says of items that are missing at known places.
enum LossWords {
  /// Words for a stream without keys that has `count` items more or less than another.
  static func unplaced(_ count: Int) -> String {
    "nothing recorded says where one is missing, so they are given to frames by their order, and those behind "
      + "the first loss \(shifted(count))"
  }

  /// `may be shifted by up to 3 frames`.
  static func shifted(_ count: Int) -> String {
    "may be shifted by up to \(Plural.text(abs(count), "frame"))"
  }

  /// Words for pictures that are missing at the end of a movie whose own start is not known; empty for 0.
  static func startCut(_ slack: Int) -> String {
    slack > 0 ? "; if the movie was cut at its start instead, all pictures \(shifted(slack))" : ""
  }

  /// `; frames 9, 10 and 13 have none, all others are at their places`; empty if none is missing.
  static func without(_ missing: [Int]) -> String {
    guard let first = missing.first else { return "" }
    let frames =
      missing.count == 1 ? "frame \(first) has" : "frames \(NumberWords.list(missing)) have"
    return "; \(frames) none, all others are at their places"
  }

  /// `pictures 9, 10 and 13 were lost by the encoder; all others are at their places`; `nil` if none
  /// is missing. Of what is missing at an end the cause is not known.
  static func pictures(_ missing: [Int], of count: Int, _ noun: String = "picture") -> String? {
    guard !missing.isEmpty else { return nil }
    let start = missing.enumerated().prefix { $0.offset == $0.element }.count
    let end =
      start == missing.count
      ? 0 : missing.reversed().enumerated().prefix { count - 1 - $0.offset == $0.element }.count
    func part(_ numbers: some Collection<Int>, _ one: String, _ many: String) -> String? {
      let list = Array(numbers)
      guard let first = list.first else { return nil }
      return list.count == 1
        ? "\(noun) \(first) \(one)" : "\(noun)s \(NumberWords.list(list)) \(many)"
    }
    let parts = [
      part(missing.prefix(start), "is missing at the start", "are missing at the start"),
      part(
        missing.dropFirst(start).dropLast(end), "was lost by the encoder",
        "were lost by the encoder"),
      part(missing.suffix(end), "is missing at the end", "are missing at the end"),
    ]
    return parts.compactMap(\.self).joined(separator: ", ") + "; all others are at their places"
  }
}
