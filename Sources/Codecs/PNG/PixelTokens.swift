/// The loop that turns lines of RGB differences into pixels and repetitions of pixels.
///
/// A token is 32 bits. A pixel of three literals: the highest bit and the three bytes, first lowest. A
/// repetition: its length in bits 0 ..< 9, the symbol of its distance in 9 ..< 14 and the value of the
/// distance's extra bits above.
///
/// Only places that begin a pixel are looked up and only the last one of each hash is known: for two
/// pixels by six bytes, first for about three by eight and at last for one by three.
/// The branches are many and badly predicted, and yet the loop is slower without them (with fixed steps,
/// with two rows in turn, with all candidates of a row looked up first, or on one byte per pixel where all
/// three are equal): each place waits for the length found at the one before, unless it is guessed.
enum PixelTokens {
  static let literalFlag: UInt32 = 0x8000_0000
  /// Bits of the hashes of two pixels, of one, and of eight bytes.
  static let pairBits = 14
  static let singleBits = 12
  static let tripleBits = 14
  /// Entries of all tables.
  static let tableSize = 1 << pairBits + 1 << singleBits + 1 << tripleBits
  static let window = 32_768
  /// A repetition of one pixel from further away takes as many bits as three literals.
  static let farthestSingle = 4096

  /// Places in the counts: three tables of literals by channel, lengths, symbols of distances.
  static let lengthCountsStart = 3 * 256
  static let distanceCountsStart = lengthCountsStart + 259
  static let countsSize = distanceCountsStart + 30

  /// How far the loop may read beyond the last line.
  static let slack = 288

  /// Finds the tokens of the pixels in `range`, a whole number of them, writes them to `tokens`, adds
  /// them to `counts` and returns the end of the tokens, one per pixel at most.
  ///
  /// `bytes` holds everything from `floor` to the end of `range` and `slack` bytes more. `table` holds
  /// places below the begin of `range` or negative numbers.
  @inline(__always)
  static func find(
    in bytes: UnsafeRawPointer, range: Range<Int>, floor: Int,
    table: UnsafeMutablePointer<Int32>, tokens: UnsafeMutablePointer<UInt32>,
    counts: UnsafeMutablePointer<UInt32>
  ) -> UnsafeMutablePointer<UInt32> {
    let tables = Tables(table)
    var output = tokens
    var place = range.lowerBound
    let end = range.upperBound
    while place < end {
      let word = load(bytes, place)
      let lowest = max(floor, place &- window)
      let triple = tripleSlot(word)
      let farther = Int(tables.triples[triple])
      tables.triples[triple] = Int32(truncatingIfNeeded: place)
      if farther >= lowest, load(bytes, farther) == word {
        let length = wholePixels(extend(bytes, place, farther), atMost: end &- place)
        if length >= 6 {
          output.pointee = repetition(length, place &- farther, counts)
          output += 1
          tables.insert(place..<place &+ length, of: bytes)
          place &+= length
          continue
        }
      }
      let slot = pairSlot(word)
      let candidate = Int(tables.pairs[slot])
      tables.pairs[slot] = Int32(truncatingIfNeeded: place)
      if candidate >= lowest {
        let difference = load(bytes, candidate) ^ word
        if difference &<< 16 == 0 {
          // As a constant where it mostly is, since the next place waits for it.
          var length = 6
          if difference == 0 {
            length = wholePixels(extend(bytes, place, candidate), atMost: end &- place)
          }
          if length >= 6, place &+ length <= end {
            output.pointee = repetition(length, place &- candidate, counts)
            output += 1
            tables.insert(place..<place &+ length, of: bytes)
            place &+= length
            continue
          }
        }
      }
      let single = singleSlot(word)
      let nearer = Int(tables.singles[single])
      tables.singles[single] = Int32(truncatingIfNeeded: place)
      if nearer >= max(floor, place &- farthestSingle),
        (load(bytes, nearer) ^ word) &<< 40 == 0
      {
        output.pointee = repetition(3, place &- nearer, counts)
        output += 1
        place &+= 3
        continue
      }
      counts[Int(truncatingIfNeeded: word & 255)] &+= 1
      counts[256 &+ Int(truncatingIfNeeded: word &>> 8 & 255)] &+= 1
      counts[512 &+ Int(truncatingIfNeeded: word &>> 16 & 255)] &+= 1
      output.pointee = UInt32(truncatingIfNeeded: word & 0xff_ffff) | literalFlag
      output += 1
      place &+= 3
    }
    return output
  }

  /// The last places of each hash.
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

    /// Takes note of all pixels in `range`.
    @inline(__always)
    func insert(_ range: Range<Int>, of bytes: UnsafeRawPointer) {
      var place = range.lowerBound
      while place < range.upperBound {
        let word = load(bytes, place)
        let entry = Int32(truncatingIfNeeded: place)
        triples[tripleSlot(word)] = entry
        pairs[pairSlot(word)] = entry
        singles[singleSlot(word)] = entry
        place &+= 3
      }
    }
  }

  /// A length of 8 to 264 without the part of a pixel at its end.
  @inline(__always)
  private static func wholePixels(_ length: Int, atMost longest: Int) -> Int {
    // A third, rounded down, for what is below 65,536.
    ((min(length, 258, longest) &* 43_691) &>> 17) &* 3
  }

  /// How far from `place` on the bytes are those from `candidate` on, up to 264; the first eight are.
  @inline(__always)
  private static func extend(_ bytes: UnsafeRawPointer, _ place: Int, _ candidate: Int) -> Int {
    var length = 8
    while length < 258 {
      // Never beyond the end of the line by more than a word: the caller has cut `place` there.
      let difference = load(bytes, candidate &+ length) ^ load(bytes, place &+ length)
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
    // The exponent of the value and the bit below its highest, as a floating point number has them.
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
