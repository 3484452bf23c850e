import CPlatform

/// The loops that split a line into literals and runs, which never cross lines. All other bytes are
/// literals: predicted noise has few matches, and a search for them would take five times as long.
///
/// A run of bytes has at least eight. It is found where eight bytes at a multiple of eight are equal.
/// The first is written as a literal, the rest as matches at distance 1. The loops for 16-bit values,
/// with the same counts and tables, are those of `value_runs.h`.
enum LineTokens {
  static let runCountsStart = Int(SCANMILL_RUN_COUNTS)
  static let countsSize = runCountsStart + 259
  static let singlesStart = Int(SCANMILL_SINGLES)
  static let runsStart = Int(SCANMILL_RUNS)
  static let tableSize = runsStart + 259
  static let noPair = UInt32(SCANMILL_NO_PAIR)

  /// Adds the tokens of a line of `count` bytes to `counts`. Reads up to eight bytes from any
  /// position below `count`.
  static func count(
    _ line: UnsafeRawPointer, _ count: Int, _ counts: UnsafeMutablePointer<UInt32>
  ) {
    var i = 0
    while i &+ 8 <= count {
      let word = load(line, i)
      guard isRun(word) else {
        countEight(word, counts)
        i &+= 8
        continue
      }
      let end = endOfRun(line, from: i, count: count, word: word)
      counts[Int(byte(line, i))] &+= 1
      countRun(of: end &- i &- 1, counts)
      i = end
    }
    countLiterals(line, &i, to: count, counts)
  }

  @inline(__always)
  private static func countLiterals(
    _ line: UnsafeRawPointer, _ i: inout Int, to end: Int,
    _ counts: UnsafeMutablePointer<UInt32>
  ) {
    while i < end {
      counts[Int(byte(line, i))] &+= 1
      i &+= 1
    }
  }

  @inline(__always)
  private static func countRun(of count: Int, _ counts: UnsafeMutablePointer<UInt32>) {
    var rest = count
    while rest > 0 {
      let length = firstPart(of: rest)
      counts[runCountsStart &+ length] &+= 1
      rest &-= length
    }
  }

  @inline(__always)
  private static func countEight(_ word: UInt64, _ counts: UnsafeMutablePointer<UInt32>) {
    counts[Int(truncatingIfNeeded: word & 255)] &+= 1
    counts[256 &+ Int(truncatingIfNeeded: word &>> 8 & 255)] &+= 1
    counts[512 &+ Int(truncatingIfNeeded: word &>> 16 & 255)] &+= 1
    counts[768 &+ Int(truncatingIfNeeded: word &>> 24 & 255)] &+= 1
    counts[Int(truncatingIfNeeded: word &>> 32 & 255)] &+= 1
    counts[256 &+ Int(truncatingIfNeeded: word &>> 40 & 255)] &+= 1
    counts[512 &+ Int(truncatingIfNeeded: word &>> 48 & 255)] &+= 1
    counts[768 &+ Int(truncatingIfNeeded: word &>> 56)] &+= 1
  }

  /// Writes the tokens of a line with the codes of `table`, whose pairs are used if `usesPairs`.
  @inline(__always)
  static func write(
    _ line: UnsafeRawPointer, _ count: Int, _ table: UnsafePointer<UInt32>, usesPairs: Bool,
    to sink: inout BitSink
  ) {
    let singles = table + singlesStart
    var output = sink
    var i = 0
    while i &+ 8 <= count {
      let word = load(line, i)
      guard isRun(word) else {
        if usesPairs {
          addPairs(word, table, to: &output)
        } else {
          addFour(word, singles, to: &output)
          addFour(word &>> 32, singles, to: &output)
        }
        i &+= 8
        continue
      }
      let end = endOfRun(line, from: i, count: count, word: word)
      add(singles[Int(byte(line, i))], to: &output)
      output.flush()
      addRun(of: end &- i &- 1, table, to: &output)
      i = end
    }
    addLiterals(line, &i, to: count, singles, &output)
    sink = output
  }

  @inline(__always)
  private static func isRun(_ word: UInt64) -> Bool { word == word &<< 8 | word &>> 56 }

  /// The end of the run that begins with the eight equal bytes of `word` at `start`.
  @inline(__always)
  private static func endOfRun(
    _ line: UnsafeRawPointer, from start: Int, count: Int, word: UInt64
  ) -> Int {
    var end = start &+ 8
    while end &+ 8 <= count, load(line, end) == word { end &+= 8 }
    while end < count, byte(line, end) == byte(line, end &- 1) { end &+= 1 }
    return end
  }

  @inline(__always)
  private static func addRun(
    of count: Int, _ table: UnsafePointer<UInt32>, to output: inout BitSink
  ) {
    var rest = count
    while rest > 0 {
      let length = firstPart(of: rest)
      add(table[runsStart &+ length], to: &output)
      output.flush()
      rest &-= length
    }
  }

  @inline(__always)
  private static func addLiterals(
    _ line: UnsafeRawPointer, _ i: inout Int, to end: Int, _ singles: UnsafePointer<UInt32>,
    _ output: inout BitSink
  ) {
    while i < end {
      add(singles[Int(byte(line, i))], to: &output)
      output.flush()
      i &+= 1
    }
  }

  /// Writes eight literals as four pairs, usually with one store. Pairs of bytes always fit an entry.
  @inline(__always)
  private static func addPairs(
    _ word: UInt64, _ pairs: UnsafePointer<UInt32>, to output: inout BitSink
  ) {
    let e0 = UInt64(pairs[Int(truncatingIfNeeded: word & 65_535)])
    let e1 = UInt64(pairs[Int(truncatingIfNeeded: word &>> 16 & 65_535)])
    let e2 = UInt64(pairs[Int(truncatingIfNeeded: word &>> 32 & 65_535)])
    let e3 = UInt64(pairs[Int(truncatingIfNeeded: word &>> 48)])
    // Masked shifts use only the low six bits, where an entry (or a sum of entries) has its length.
    let low = e0 &>> 8 | (e1 &>> 8) &<< e0
    let high = e2 &>> 8 | (e3 &>> 8) &<< e2
    let lowCount = e0 &+ e1
    let highCount = e2 &+ e3
    let total = (lowCount &+ highCount) & 255
    if total &+ output.bitCount < 64 {
      output.add(low | high &<< lowCount, count: total)
    } else {
      output.add(low, count: lowCount)
      output.flush()
      output.add(high, count: highCount)
    }
    output.flush()
  }

  /// Writes the four literals in the low bytes of `word`.
  @inline(__always)
  private static func addFour(
    _ word: UInt64, _ singles: UnsafePointer<UInt32>, to output: inout BitSink
  ) {
    let e0 = UInt64(singles[Int(truncatingIfNeeded: word & 255)])
    let e1 = UInt64(singles[Int(truncatingIfNeeded: word &>> 8 & 255)])
    let e2 = UInt64(singles[Int(truncatingIfNeeded: word &>> 16 & 255)])
    let e3 = UInt64(singles[Int(truncatingIfNeeded: word &>> 24 & 255)])
    let low = e0 &>> 8 | (e1 &>> 8) &<< e0
    let high = e2 &>> 8 | (e3 &>> 8) &<< e2
    let lowCount = e0 &+ e1
    output.add(low | high &<< lowCount, count: lowCount &+ e2 &+ e3)
    output.flush()
  }

  @inline(__always)
  private static func add(_ entry: UInt32, to output: inout BitSink) {
    output.add(UInt64(entry &>> 8), count: UInt64(entry))
  }

  @inline(__always)
  private static func load(_ line: UnsafeRawPointer, _ offset: Int) -> UInt64 {
    UInt64(littleEndian: line.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
  }

  @inline(__always)
  private static func byte(_ line: UnsafeRawPointer, _ offset: Int) -> UInt8 {
    line.load(fromByteOffset: offset, as: UInt8.self)
  }

  /// How many of the remaining bytes, at least three, one match takes so that at least three or
  /// none remain.
  @inline(__always)
  private static func firstPart(of rest: Int) -> Int {
    guard rest > 258 else { return rest }
    return rest >= 261 ? 258 : rest &- 3
  }
}
