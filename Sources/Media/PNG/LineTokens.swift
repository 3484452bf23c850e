/// The loops that split a line into literals and runs, which never cross lines. All other bytes are
/// literals: predicted noise has few matches, and a search for them would take five times as long.
///
/// - A run of bytes has at least eight. It is found where eight bytes at a multiple of eight are
///   equal. The first is written as a literal, the rest as matches at distance 1.
/// - A run of 16-bit values repeats the previous two bytes: at any position, for at least six bytes,
///   if that is shorter than literals. In noise three equal neighbors are rare, so that eight bytes
///   are tested at a time. (Runs from four bytes on make files 0.2 % smaller and take an eighth more
///   time.)
enum LineTokens {
  /// Index of the first count of a run length, after four tables of literals.
  static let runCountsStart = 4 * 256
  /// Size of the counts: four tables of literals (so that equal neighbors do not wait for the same
  /// counter), then one count per run length.
  static let countsSize = runCountsStart + 259

  /// Indices into the table of codes (entries of `HuffmanCode`): pairs of literals, single literals,
  /// runs by length.
  static let singlesStart = 65_536
  static let runsStart = singlesStart + 256
  static let tableSize = runsStart + 259
  /// The length that marks a pair whose code does not fit an entry. Four of them still fit a byte,
  /// and one makes the sum large enough to select the slow path.
  static let noPair: UInt32 = 63

  /// Shortest runs of values to count while no code is known: zeros are assumed to take a bit each,
  /// other values more.
  private static let shortestZeros = 9
  private static let shortest = 6

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

  /// As `count`, with runs of 16-bit values.
  static func countValues(
    _ line: UnsafeRawPointer, _ count: Int, _ counts: UnsafeMutablePointer<UInt32>
  ) {
    var i = 0
    countLiterals(line, &i, to: min(3, count), counts)
    while i &+ 12 <= count {
      let word = load(line, i)
      let repeated = startsOfRuns(line, i, word)
      if repeated == 0 {
        countEight(word, counts)
        i &+= 8
        continue
      }
      let start = i &+ repeated.trailingZeroBitCount &>> 4 &* 2
      let end = endOfValues(line, from: start, count: count)
      let isZero = byte(line, start) | byte(line, start &+ 1) == 0
      if end &- start < (isZero ? shortestZeros : shortest) {
        countEight(word, counts)
        i &+= 8
        continue
      }
      countLiterals(line, &i, to: start, counts)
      countRun(of: end &- start, counts)
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
          addPairs(word, table, fit: true, to: &output)
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

  /// As `write`, with runs of 16-bit values.
  @inline(__always)
  static func writeValues(
    _ line: UnsafeRawPointer, _ count: Int, _ table: UnsafePointer<UInt32>, usesPairs: Bool,
    to sink: inout BitSink
  ) {
    let singles = table + singlesStart
    var output = sink
    var i = 0
    addLiterals(line, &i, to: min(3, count), singles, &output)
    while i &+ 12 <= count {
      let word = load(line, i)
      let repeated = startsOfRuns(line, i, word)
      if repeated == 0 {
        addEight(word, table, usesPairs, &output)
        i &+= 8
        continue
      }
      let start = i &+ repeated.trailingZeroBitCount &>> 4 &* 2
      let length = endOfValues(line, from: start, count: count) &- start
      let bitsOfTwo =
        (singles[Int(byte(line, start))] & 255) &+ (singles[Int(byte(line, start &+ 1))] & 255)
      // Longer runs are always worth a match.
      if length <= 32,
        (table[runsStart &+ length] & 255) &* 2 >= bitsOfTwo &* UInt32(truncatingIfNeeded: length)
      {
        addEight(word, table, usesPairs, &output)
        i &+= 8
        continue
      }
      var before = word
      while i < start {
        addTwo(before, singles, to: &output)
        before = before &>> 16
        i &+= 2
      }
      addRun(of: length, table, to: &output)
      i = start &+ length
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

  /// Bits in 16-bit lanes: the lowest bit is set where six bytes repeat those two positions
  /// earlier.
  @inline(__always)
  private static func startsOfRuns(_ line: UnsafeRawPointer, _ i: Int, _ word: UInt64) -> UInt64 {
    let next = load(line, i &+ 2)
    let changes = (word ^ load(line, i &- 2)) | (word ^ next) | (next ^ load(line, i &+ 4))
    return (changes &- 0x0001_0001_0001_0001) & ~changes & 0x8000_8000_8000_8000
  }

  /// The end of the run at `start`, which has at least six bytes.
  @inline(__always)
  private static func endOfValues(_ line: UnsafeRawPointer, from start: Int, count: Int) -> Int {
    var end = start &+ 6
    while end &+ 8 <= count {
      let changes = load(line, end) ^ load(line, end &- 2)
      if changes != 0 { return end &+ changes.trailingZeroBitCount &>> 3 }
      end &+= 8
    }
    while end < count, byte(line, end) == byte(line, end &- 2) { end &+= 1 }
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

  @inline(__always)
  private static func addEight(
    _ word: UInt64, _ table: UnsafePointer<UInt32>, _ usesPairs: Bool, _ output: inout BitSink
  ) {
    if usesPairs {
      addPairs(word, table, fit: false, to: &output)
    } else {
      let singles = table + singlesStart
      addTwo(word, singles, to: &output)
      addTwo(word &>> 16, singles, to: &output)
      addTwo(word &>> 32, singles, to: &output)
      addTwo(word &>> 48, singles, to: &output)
    }
  }

  /// Writes eight literals as four pairs, usually with one store. `fit` is a constant: whether every
  /// pair has an entry.
  @inline(__always)
  private static func addPairs(
    _ word: UInt64, _ pairs: UnsafePointer<UInt32>, fit: Bool, to output: inout BitSink
  ) {
    let e0 = UInt64(pairs[Int(truncatingIfNeeded: word & 65_535)])
    let e1 = UInt64(pairs[Int(truncatingIfNeeded: word &>> 16 & 65_535)])
    let e2 = UInt64(pairs[Int(truncatingIfNeeded: word &>> 32 & 65_535)])
    let e3 = UInt64(pairs[Int(truncatingIfNeeded: word &>> 48)])
    // Masked shifts use only the low six bits, where an entry (or a sum of entries) has its length.
    let lowCount = e0 &+ e1
    let highCount = e2 &+ e3
    let total = (lowCount &+ highCount) & 255
    if total &+ output.bitCount < 64 {
      let low = e0 &>> 8 | (e1 &>> 8) &<< e0
      let high = e2 &>> 8 | (e3 &>> 8) &<< e2
      output.add(low | high &<< lowCount, count: total)
      output.flush()
    } else {
      addPairs(word, e0, e1, pairs + singlesStart, fit: fit, to: &output)
      addPairs(word &>> 32, e2, e3, pairs + singlesStart, fit: fit, to: &output)
    }
  }

  /// Writes two pairs, or their literals where one has no entry.
  @inline(__always)
  private static func addPairs(
    _ word: UInt64, _ e0: UInt64, _ e1: UInt64, _ singles: UnsafePointer<UInt32>, fit: Bool,
    to output: inout BitSink
  ) {
    if fit || (e0 & 255) &+ (e1 & 255) < UInt64(noPair) {
      output.add(e0 &>> 8 | (e1 &>> 8) &<< e0, count: e0 &+ e1)
      output.flush()
    } else {
      addTwo(word, singles, to: &output)
      addTwo(word &>> 16, singles, to: &output)
    }
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

  /// Writes the two literals in the low bytes of `word`.
  @inline(__always)
  private static func addTwo(
    _ word: UInt64, _ singles: UnsafePointer<UInt32>, to output: inout BitSink
  ) {
    add(singles[Int(truncatingIfNeeded: word & 255)], to: &output)
    add(singles[Int(truncatingIfNeeded: word &>> 8 & 255)], to: &output)
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
