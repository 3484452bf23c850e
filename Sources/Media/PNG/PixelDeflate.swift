import CDeflate

/// Writes the lines of an RGB picture as a zlib stream in which pixels match earlier ones.
///
/// The usual conversion of video gives two by two pixels the same chroma. After the row above is
/// subtracted, the three bytes of each pixel of an odd row are therefore equal. As literals they
/// take three codes, while a match of two or three recent pixels takes little more than one.
///
/// Blocks are about a megabyte, with codes counted on all of their tokens.
struct PixelDeflate {
  private var window: [UInt8] = []
  private var tokens: [UInt32] = []
  private var tokenEnds: [Int] = []
  private var table = [Int32](repeating: 0, count: PixelTokens.tableSize)
  private var code = PixelCode(
    countsSize: PixelTokens.countsSize, lengthsStart: PixelTokens.lengthCountsStart, lengthStep: 3,
    distancesStart: PixelTokens.distanceCountsStart)
  private var header = DeflateBlockHeader()
  /// Entries of `HuffmanCode` for each literal, then for each length.
  private var entries = [UInt32](repeating: 0, count: 256 + 259)
  /// For each distance symbol: its code from bit 16 on, the total length of code and extra bits in
  /// bits 8 ..< 16, the length of the code below.
  private var distances = [UInt32](repeating: 0, count: 32)

  private static let blockBytes = 1 << 20

  static func rowsPerBlock(_ lineBytes: Int) -> Int { max(2, blockBytes / lineBytes & ~1) }

  /// Upper bound of the memory that `compress` writes to: all blocks stored, plus the line that
  /// made a block larger than that, with 36 bits of literals per pixel.
  static func largestBytes(lineBytes: Int, height: Int) -> Int {
    let total = lineBytes * height
    let blocks = height / rowsPerBlock(lineBytes) + 2
    return Scanlines.storedBytes(total) + 6 * blocks + 2 * lineBytes
      + 2 * DeflateBlockHeader.largestBytes + 64
  }

  /// Writes the stream to `target`, which must hold `PixelDeflate.largestBytes`, and returns its
  /// length. Even rows are predicted by `evenFilter`, odd ones by Up.
  mutating func compress(
    _ lines: inout Scanlines, evenFilter: ScanlineFilter, to target: UnsafeMutableRawPointer
  ) -> Int {
    let lineBytes = lines.lineBytes
    let step = Self.rowsPerBlock(lineBytes)
    let blockRows = min(step, lines.height)
    let windowBytes = PixelTokens.window + blockRows * lineBytes + PixelTokens.slack
    if window.count < windowBytes { window = [UInt8](repeating: 0, count: windowBytes) }
    let tokenCount = blockRows * (lines.rowBytes / 3)
    if tokens.count < tokenCount { tokens = [UInt32](repeating: 0, count: tokenCount) }
    for i in table.indices { table[i] = -1 }
    return lines.deflate(blockRows: step, to: target) {
      lines, rows, floor, isLast, sink, checksum in
      fill(&lines, rows: rows, evenFilter: evenFilter, checksum: &checksum)
      findTokens(lines, rows: rows, evenFilter: evenFilter, floor: floor)
      return write(
        rows, lineBytes: lineBytes, evenFilter: evenFilter, isLast: isLast, to: &sink)
    }
  }

  /// Writes the tokens of a block; returns false as soon as storing it would be smaller.
  private mutating func write(
    _ rows: Range<Int>, lineBytes: Int, evenFilter: ScanlineFilter, isLast: Bool,
    to sink: inout BitSink
  ) -> Bool {
    let start = sink.position
    let largest = Scanlines.storedBytes(rows.count * lineBytes)
    header.write(code, isLast: isLast, to: &sink)
    return tokens.withUnsafeBufferPointer { tokens in
      guard let tokens = tokens.baseAddress else { return false }
      var begin = 0
      for (index, y) in rows.enumerated() {
        write(
          filter: y & 1 == 0 ? evenFilter : .up, tokens + begin, count: tokenEnds[index] - begin,
          to: &sink)
        begin = tokenEnds[index]
        if sink.position - start > largest { return false }
      }
      code.literals.put(DeflateRuns.endOfBlock, to: &sink)
      return sink.position - start <= largest
    }
  }

  /// Appends the lines of a block to those of the previous block.
  private mutating func fill(
    _ lines: inout Scanlines, rows: Range<Int>, evenFilter: ScanlineFilter, checksum: inout UInt32
  ) {
    let lineBytes = lines.lineBytes
    window.withUnsafeMutableBufferPointer { window in
      guard let start = window.baseAddress else { return }
      if rows.lowerBound > 0 {
        start.update(
          from: start + Self.rowsPerBlock(lineBytes) * lineBytes, count: PixelTokens.window)
      }
      let block = start + PixelTokens.window
      for (index, y) in rows.enumerated() {
        lines.write(y, filter: y & 1 == 0 ? evenFilter : .up, to: block + index * lineBytes)
      }
      let count = rows.count * lineBytes
      // Cleared, so that what the search reads beyond the end does not depend on earlier content.
      (block + count).update(repeating: 0, count: PixelTokens.slack)
      checksum = libdeflate_adler32(checksum, block, count)
    }
  }

  /// Finds the matches of a block, none that begins before `floor`, and builds its codes.
  private mutating func findTokens(
    _ lines: Scanlines, rows: Range<Int>, evenFilter: ScanlineFilter, floor: Int
  ) {
    let lineBytes = lines.lineBytes
    let first = rows.lowerBound * lineBytes
    tokenEnds.removeAll(keepingCapacity: true)
    window.withUnsafeBytes { window in
      guard let start = window.baseAddress else { return }
      // Makes positions count from the start of the stream.
      let bytes = start + PixelTokens.window - first
      let searchStart = max(floor, first - PixelTokens.window)
      code.count { counts in
        tokens.withUnsafeMutableBufferPointer { tokens in
          table.withUnsafeMutableBufferPointer { table in
            guard let tokens = tokens.baseAddress, let table = table.baseAddress else { return }
            var end = tokens
            for y in rows {
              let pixels = (y * lineBytes + 1)..<((y + 1) * lineBytes)
              end = PixelTokens.find(
                in: bytes, range: pixels, floor: searchStart, table: table, tokens: end,
                counts: counts)
              tokenEnds.append(end - tokens)
            }
          }
        }
      }
    }
    code.add(evenFilter, rows: (rows.count + 1) / 2)
    code.add(.up, rows: rows.count / 2)
    code.make(least: 0)
    for literal in 0..<256 { entries[literal] = code.literals.entry(literal) }
    for length in DeflateRuns.lengths {
      entries[256 + length] = code.literals.entry(length: length)
    }
    for symbol in 0..<30 {
      let entry = code.distances.entry(symbol)
      let extraBits = UInt32(PixelCode.extraBits(ofDistance: symbol))
      distances[symbol] = (entry >> 8) << 16 | (entry & 255 + extraBits) << 8 | entry & 255
    }
  }

  /// Writes the filter byte of a line and its tokens.
  private func write(
    filter: ScanlineFilter, _ tokens: UnsafePointer<UInt32>, count: Int, to sink: inout BitSink
  ) {
    entries.withUnsafeBufferPointer { entries in
      distances.withUnsafeBufferPointer { distances in
        guard let literals = entries.baseAddress, let distances = distances.baseAddress else {
          return
        }
        let lengths = literals + 256
        var output = sink
        let start = literals[Int(filter.rawValue)]
        output.add(UInt64(start &>> 8), count: UInt64(start))
        output.flush()
        var i = 0
        while i < count {
          let token = tokens[i]
          i &+= 1
          if token & PixelTokens.literalFlag != 0 {
            let e0 = UInt64(literals[Int(truncatingIfNeeded: token & 255)])
            let e1 = UInt64(literals[Int(truncatingIfNeeded: token &>> 8 & 255)])
            let e2 = UInt64(literals[Int(truncatingIfNeeded: token &>> 16 & 255)])
            // Masked shifts use only the low six bits, where an entry (or a sum of entries) has its
            // length.
            let low = e0 &>> 8 | (e1 &>> 8) &<< e0
            let lowCount = e0 &+ e1
            output.add(low | (e2 &>> 8) &<< lowCount, count: lowCount &+ e2)
          } else {
            let length = UInt64(lengths[Int(truncatingIfNeeded: token & 511)])
            let distance = UInt64(distances[Int(truncatingIfNeeded: token &>> 9 & 31)])
            let extra = UInt64(token &>> 14)
            let bits = distance &>> 16 | extra &<< distance
            output.add(length &>> 8 | bits &<< length, count: length &+ distance &>> 8)
          }
          output.flush()
        }
        sink = output
      }
    }
  }
}

/// The Huffman codes of literals and of matches of whole pixels, counted on a block.
struct PixelCode {
  private(set) var literals = HuffmanCode()
  private(set) var distances = HuffmanCode()
  private var counts: [UInt32]
  private var symbolCounts = [UInt32](repeating: 0, count: DeflateRuns.symbolCount)
  private var distanceCounts = [UInt32](repeating: 0, count: 30)
  /// Number of rows by filter byte.
  private var filterCounts = [UInt32](repeating: 0, count: 5)
  /// Where the counts of matches begin, and their distance from pixel to pixel; before them are three
  /// tables of literals by channel, behind them the symbols of distances.
  private let lengthsStart: Int
  private let lengthStep: Int
  private let distancesStart: Int

  /// Longest codes: a match has at most 12 + 5 + 12 + 13 bits, a pixel 36.
  private static let longestCode = 12
  /// The longest match in pixels.
  static let longestMatch = 86

  init(countsSize: Int, lengthsStart: Int, lengthStep: Int, distancesStart: Int) {
    counts = [UInt32](repeating: 0, count: countsSize)
    self.lengthsStart = lengthsStart
    self.lengthStep = lengthStep
    self.distancesStart = distancesStart
  }

  static func extraBits(ofDistance symbol: Int) -> Int { symbol < 2 ? 0 : (symbol - 2) / 2 }

  /// Resets the counts and lets `body` count.
  mutating func count(_ body: (UnsafeMutablePointer<UInt32>) -> Void) {
    for filter in filterCounts.indices { filterCounts[filter] = 0 }
    counts.withUnsafeMutableBufferPointer { counts in
      guard let target = counts.baseAddress else { return }
      counts.update(repeating: 0)
      body(target)
    }
  }

  /// Counts the filter bytes of rows.
  mutating func add(_ filter: ScanlineFilter, rows: Int) {
    filterCounts[Int(filter.rawValue)] += UInt32(rows)
  }

  /// Builds the codes from the counts, to each of which `least` is added: 1 where rows were not
  /// counted that may contain any symbol.
  mutating func make(least: UInt32) {
    for symbol in symbolCounts.indices { symbolCounts[symbol] = 0 }
    for literal in 0..<256 {
      symbolCounts[literal] =
        least + counts[literal] + counts[256 + literal] + counts[512 + literal]
    }
    for (filter, count) in filterCounts.enumerated() { symbolCounts[filter] += count }
    for pixels in 1...Self.longestMatch {
      symbolCounts[DeflateRuns.byLength[3 * pixels].symbol] += least + matches(of: pixels)
    }
    symbolCounts[DeflateRuns.endOfBlock] = 1
    for symbol in 0..<30 { distanceCounts[symbol] = least + counts[distancesStart + symbol] }
    literals.build(counts: symbolCounts, limit: Self.longestCode)
    distances.build(counts: distanceCounts, limit: Self.longestCode)
  }

  private func matches(of pixels: Int) -> UInt32 { counts[lengthsStart + lengthStep * pixels] }

  /// Size of the counted rows in bits, and their number of tokens.
  var counted: (bits: Int, tokens: Int) {
    var tokens = 0
    for literal in 0..<256 { tokens += Int(counts[literal]) }
    var bits = literals.bitCount(of: symbolCounts) + distances.bitCount(of: distanceCounts)
    for pixels in 1...Self.longestMatch {
      let matches = Int(matches(of: pixels))
      tokens += matches
      bits += matches * DeflateRuns.byLength[3 * pixels].extraBits
    }
    for symbol in 2..<30 {
      bits += Int(distanceCounts[symbol]) * Self.extraBits(ofDistance: symbol)
    }
    return (bits, tokens)
  }
}

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
