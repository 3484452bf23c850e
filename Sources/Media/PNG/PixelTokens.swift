/// The loop that splits lines of RGB differences into pixels and matches of pixels.
///
/// A token has 32 bits. A pixel of three literals: the highest bit and the three bytes, first
/// lowest. A match: its length in bits 0 ..< 9, the symbol of its distance in bits 9 ..< 14 and the
/// value of the distance's extra bits above.
///
/// Only positions at the start of a pixel are looked up, and only the last position of each hash is
/// kept: for two pixels by six bytes, first for about three by eight and at last for one by three.
/// The branches are many and hard to predict, yet all variants without them were slower (fixed
/// steps, two rows in turn, all candidates of a row looked up first, one byte per pixel where all
/// three are equal): each position depends on the length found at the previous one unless the
/// processor predicts it.
enum PixelTokens {
  static let literalFlag: UInt32 = 0x8000_0000
  /// Bits of the hashes of two pixels, of one pixel, and of eight bytes.
  static let pairBits = 14
  static let singleBits = 12
  static let tripleBits = 14
  /// Number of entries of all tables.
  static let tableSize = 1 << pairBits + 1 << singleBits + 1 << tripleBits
  static let window = 32_768
  /// Farthest match of one pixel, in bytes: farther ones take as many bits as three literals.
  static let farthestSingle = 4096

  /// Indices into the counts: three tables of literals by channel, lengths, symbols of distances.
  static let lengthCountsStart = 3 * 256
  static let distanceCountsStart = lengthCountsStart + 259
  static let countsSize = distanceCountsStart + 30

  /// Number of bytes that the loop may read beyond the last line.
  static let slack = 288

  /// Finds the tokens of the pixels in `range`, which must be whole pixels; writes them to
  /// `tokens`, adds them to `counts` and returns the end of the tokens, at most one per pixel.
  ///
  /// `bytes` holds everything from `floor` to the end of `range` and `slack` bytes more. `table`
  /// holds positions before `range`, or negative numbers.
  @inline(__always)
  static func find(
    in bytes: UnsafeRawPointer, range: Range<Int>, floor: Int,
    table: UnsafeMutablePointer<Int32>, tokens: UnsafeMutablePointer<UInt32>,
    counts: UnsafeMutablePointer<UInt32>
  ) -> UnsafeMutablePointer<UInt32> {
    let tables = Tables(table)
    var output = tokens
    var position = range.lowerBound
    let end = range.upperBound
    while position < end {
      let word = load(bytes, position)
      let lowest = max(floor, position &- window)
      let triple = tripleSlot(word)
      let farther = Int(tables.triples[triple])
      tables.triples[triple] = Int32(truncatingIfNeeded: position)
      if farther >= lowest, load(bytes, farther) == word {
        let length = wholePixels(extend(bytes, position, farther), atMost: end &- position)
        if length >= 6 {
          output.pointee = repetition(length, position &- farther, counts)
          output += 1
          tables.insert(position..<position &+ length, of: bytes)
          position &+= length
          continue
        }
      }
      let slot = pairSlot(word)
      let candidate = Int(tables.pairs[slot])
      tables.pairs[slot] = Int32(truncatingIfNeeded: position)
      if candidate >= lowest {
        let difference = load(bytes, candidate) ^ word
        if difference &<< 16 == 0 {
          // The usual value as a constant, since the next position depends on it.
          var length = 6
          if difference == 0 {
            length = wholePixels(extend(bytes, position, candidate), atMost: end &- position)
          }
          if length >= 6, position &+ length <= end {
            output.pointee = repetition(length, position &- candidate, counts)
            output += 1
            tables.insert(position..<position &+ length, of: bytes)
            position &+= length
            continue
          }
        }
      }
      let single = singleSlot(word)
      let nearer = Int(tables.singles[single])
      tables.singles[single] = Int32(truncatingIfNeeded: position)
      if nearer >= max(floor, position &- farthestSingle),
        (load(bytes, nearer) ^ word) &<< 40 == 0
      {
        output.pointee = repetition(3, position &- nearer, counts)
        output += 1
        position &+= 3
        continue
      }
      counts[Int(truncatingIfNeeded: word & 255)] &+= 1
      counts[256 &+ Int(truncatingIfNeeded: word &>> 8 & 255)] &+= 1
      counts[512 &+ Int(truncatingIfNeeded: word &>> 16 & 255)] &+= 1
      output.pointee = UInt32(truncatingIfNeeded: word & 0xff_ffff) | literalFlag
      output += 1
      position &+= 3
    }
    return output
  }

  /// The last position of each hash.
  private struct Tables {
    let pairs: UnsafeMutablePointer<Int32>
    let singles: UnsafeMutablePointer<Int32>
    let triples: UnsafeMutablePointer<Int32>

    @inline(__always)
    init(_ table: UnsafeMutablePointer<Int32>) {
      pairs = table
      singles = pairs + 1 << pairBits
      triples = singles + 1 << singleBits
    }

    /// Records the positions of all pixels in `range`.
    @inline(__always)
    func insert(_ range: Range<Int>, of bytes: UnsafeRawPointer) {
      var position = range.lowerBound
      while position < range.upperBound {
        let word = load(bytes, position)
        let entry = Int32(truncatingIfNeeded: position)
        triples[tripleSlot(word)] = entry
        pairs[pairSlot(word)] = entry
        singles[singleSlot(word)] = entry
        position &+= 3
      }
    }
  }

  /// A length of 8 to 264, rounded down to whole pixels.
  @inline(__always)
  private static func wholePixels(_ length: Int, atMost longest: Int) -> Int {
    // Division by three, rounded down, for values below 65,536.
    ((min(length, 258, longest) &* 43_691) &>> 17) &* 3
  }

  /// How many bytes from `position` on equal those from `candidate` on, up to 264; the first eight are
  /// known to be equal.
  @inline(__always)
  private static func extend(_ bytes: UnsafeRawPointer, _ position: Int, _ candidate: Int) -> Int {
    var length = 8
    while length < 258 {
      // Passes the end of the line by at most a word; the caller has limited `position` accordingly.
      let difference = load(bytes, candidate &+ length) ^ load(bytes, position &+ length)
      if difference != 0 { return length &+ difference.trailingZeroBitCount &>> 3 }
      length &+= 8
    }
    return length
  }

  @inline(__always)
  private static func repetition(
    _ length: Int, _ distance: Int, _ counts: UnsafeMutablePointer<UInt32>
  ) -> UInt32 {
    // RFC 1951, section 3.2.5, for distances from 3: two symbols for each power of two.
    let value = UInt32(truncatingIfNeeded: distance &- 1)
    // The exponent and the highest mantissa bit of the value as a floating-point number.
    let symbol = (Float(value).bitPattern &>> 22) &- 254
    let extra = value & ((1 &<< (symbol &>> 1 &- 1)) &- 1)
    counts[lengthCountsStart &+ length] &+= 1
    counts[distanceCountsStart &+ Int(truncatingIfNeeded: symbol)] &+= 1
    return UInt32(truncatingIfNeeded: length) | symbol &<< 9 | extra &<< 14
  }

  @inline(__always)
  private static func pairSlot(_ word: UInt64) -> Int {
    // The multiplier of Fibonacci hashing, 2^64 / golden ratio.
    Int(truncatingIfNeeded: ((word &<< 16) &* 0x9e37_79b9_7f4a_7c15) &>> UInt64(64 - pairBits))
  }

  @inline(__always)
  private static func singleSlot(_ word: UInt64) -> Int {
    Int(truncatingIfNeeded: ((word &<< 40) &* 0x9e37_79b9_7f4a_7c15) &>> UInt64(64 - singleBits))
  }

  @inline(__always)
  private static func tripleSlot(_ word: UInt64) -> Int {
    Int(truncatingIfNeeded: (word &* 0x9e37_79b9_7f4a_7c15) &>> UInt64(64 - tripleBits))
  }

  @inline(__always)
  private static func load(_ bytes: UnsafeRawPointer, _ offset: Int) -> UInt64 {
    UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
  }
}
