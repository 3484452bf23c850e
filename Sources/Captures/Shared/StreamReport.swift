/// A stream whose items correspond to frames by number: what its length says beside the others', in the same words and
/// by the same rule in all families.
struct StreamReport {
  /// The name in warnings and claims.
  var subject: String
  /// What its items are called where they declare the length of others: `the depth files`.
  var noun: String
  /// Number of items that are there; `nil` for a stream that is absent or cannot be read, which says nothing.
  var held: Int?
  /// One more than the greatest number.
  var length: Int?

  init(_ subject: String, _ noun: String, held: Int?, length: Int?) {
    (self.subject, self.noun, self.held, self.length) = (subject, noun, held, length)
  }

  /// Items without numbers of their own.
  init(_ subject: String, _ noun: String, _ count: Int?) {
    self.init(subject, noun, held: count, length: count)
  }

  init(_ subject: String, _ noun: String, _ files: NumberedFiles?) {
    self.init(subject, noun, held: files?.files.count, length: files?.numberCount)
  }

  /// Warns of more or fewer items than `expected`, the number of `partners`. `how` says how they were paired, and which
  /// are missing.
  func tell(
    _ items: String, expected: Int, _ partners: String, _ how: String,
    to warnings: WarningCollector
  ) {
    guard let held else { return }
    warnings.add(
      .frameCountMismatch, subject, count: abs(held - expected),
      "\(held) \(items), \(expected) \(partners): \(how)")
  }
}

extension [StreamClaim] {
  /// Adds streams of which each frame has a number, and some numbers may have no frame: the greatest
  /// length is taken as that of all, also of the stream that has it.
  mutating func add(_ streams: [StreamReport]) {
    let counted = streams.filter { $0.held != nil && $0.length != nil }
    guard let longest = counted.max(by: { ($0.length ?? 0) < ($1.length ?? 0) }) else { return }
    for stream in counted {
      let isLongest = stream.subject == longest.subject
      add(
        stream.subject, held: stream.held, declared: longest.length,
        by: isLongest ? "the numbers of its files" : longest.noun)
    }
  }
}
