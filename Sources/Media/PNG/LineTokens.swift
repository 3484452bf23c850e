/// The loops that split a line into literals and runs.
///
/// A run has at least eight bytes. It is found where eight bytes at a multiple of eight repeat with
/// a period of one byte (8-bit pictures) or two (16-bit). Its first period is written as literals,
/// the rest as matches at that distance. Runs never cross lines. All other bytes are literals:
/// predicted noise has few matches, and a search for them would take five times as long.
enum LineTokens {
  /// Index of the first count of a run length, after four tables of literals.
  static let runCountsStart = 4 * 256
  /// Size of the counts: four tables of literals (so that equal neighbors do not wait for the same
  /// counter), then one count per run length.
  static let countsSize = runCountsStart + 259

  /// Indices into the table of codes: pairs of literals, single literals, runs by length.
  static let singlesStart = 65_536
  static let runsStart = singlesStart + 256
  static let tableSize = runsStart + 259

  /// A table entry: the number of bits in the low eight bits, the bits to write above. A pair of
  /// literals has 24 bits at most, so that codes of literals are limited to 12.
  static func entry(_ code: some BinaryInteger, _ length: some BinaryInteger) -> UInt32 {
    UInt32(truncatingIfNeeded: code) << 8 | UInt32(truncatingIfNeeded: length)
  }

  static let longestCode = 12

  /// Adds the tokens of a line to `counts`. Reads up to eight bytes from any position below
  /// `count`.
  static func count(
    _ line: UnsafeRawPointer, count: Int, period: Int, counts: UnsafeMutablePointer<UInt32>
  ) {
    let rotation = UInt64(truncatingIfNeeded: 8 &* period)
    var i = 0
    while i &+ 8 <= count {
      let word = load(line, i)
      if isPeriodic(word, rotation) {
        let end = endOfRun(line, from: i, count: count, period: period, word: word)
        var literal = 0
        while literal < period {
          counts[Int(byte(line, i &+ literal))] &+= 1
          literal &+= 1
        }
        var rest = end &- i &- period
        while rest > 0 {
          let length = firstPart(of: rest)
          counts[runCountsStart &+ length] &+= 1
          rest &-= length
        }
        i = end
        continue
      }
      counts[Int(truncatingIfNeeded: word & 255)] &+= 1
      counts[256 &+ Int(truncatingIfNeeded: word &>> 8 & 255)] &+= 1
      counts[512 &+ Int(truncatingIfNeeded: word &>> 16 & 255)] &+= 1
      counts[768 &+ Int(truncatingIfNeeded: word &>> 24 & 255)] &+= 1
      counts[Int(truncatingIfNeeded: word &>> 32 & 255)] &+= 1
      counts[256 &+ Int(truncatingIfNeeded: word &>> 40 & 255)] &+= 1
      counts[512 &+ Int(truncatingIfNeeded: word &>> 48 & 255)] &+= 1
      counts[768 &+ Int(truncatingIfNeeded: word &>> 56)] &+= 1
      i &+= 8
    }
    while i < count {
      counts[Int(byte(line, i))] &+= 1
      i &+= 1
    }
  }

  /// Writes the tokens of a line with the codes of `table`, whose pairs are used if `usesPairs`.
  @inline(__always)
  static func write(
    _ line: UnsafeRawPointer, count: Int, period: Int, table: UnsafePointer<UInt32>,
    usesPairs: Bool, to sink: inout BitSink
  ) {
    let rotation = UInt64(truncatingIfNeeded: 8 &* period)
    let singles = table + singlesStart
    var output = sink
    var i = 0
    while i &+ 8 <= count {
      let word = load(line, i)
      if isPeriodic(word, rotation) {
        let end = endOfRun(line, from: i, count: count, period: period, word: word)
        var literal = 0
        while literal < period {
          add(singles[Int(byte(line, i &+ literal))], to: &output)
          literal &+= 1
        }
        output.flush()
        var rest = end &- i &- period
        while rest > 0 {
          let length = firstPart(of: rest)
          add(table[runsStart &+ length], to: &output)
          output.flush()
          rest &-= length
        }
        i = end
        continue
      }
      if usesPairs {
        addPairs(word, table, to: &output)
      } else {
        addSingles(word, singles, to: &output)
        addSingles(word &>> 32, singles, to: &output)
      }
      i &+= 8
    }
    while i < count {
      add(singles[Int(byte(line, i))], to: &output)
      output.flush()
      i &+= 1
    }
    sink = output
  }

  /// Writes eight literals as four pairs, usually with one store, two if their codes are long.
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
      output.flush()
    } else {
      output.add(low, count: lowCount)
      output.flush()
      output.add(high, count: highCount)
      output.flush()
    }
  }

  /// Writes the four literals in the low bytes of `word`.
  @inline(__always)
  private static func addSingles(
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

  @inline(__always)
  private static func isPeriodic(_ word: UInt64, _ rotation: UInt64) -> Bool {
    word == word &<< rotation | word &>> (64 &- rotation)
  }

  /// The end of the run that begins with the periodic `word` at `start`.
  @inline(__always)
  private static func endOfRun(
    _ line: UnsafeRawPointer, from start: Int, count: Int, period: Int, word: UInt64
  ) -> Int {
    var end = start &+ 8
    while end &+ 8 <= count, load(line, end) == word { end &+= 8 }
    while end < count, byte(line, end) == byte(line, end &- period) { end &+= 1 }
    return end
  }

  /// How many of the remaining bytes, at least three, one match takes so that at least three or
  /// none remain.
  @inline(__always)
  private static func firstPart(of rest: Int) -> Int {
    guard rest > 258 else { return rest }
    return rest >= 261 ? 258 : rest &- 3
  }
}

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
