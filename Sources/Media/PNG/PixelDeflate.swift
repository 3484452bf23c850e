import CDeflate

/// Writes the lines of an RGB picture as a zlib stream in which pixels match earlier ones.
///
/// The usual conversion of video gives two by two pixels the same chroma. After the row above is
/// subtracted, the three bytes of each pixel of an odd row are therefore equal. As literals they
/// take three codes, while a match of two or three recent pixels takes little more than one.
///
/// Blocks are about a megabyte, with codes counted on all of their tokens, or stored if that is
/// smaller. The output depends on the pixels alone, never on earlier pictures.
struct PixelDeflate {
  private var window: [UInt8] = []
  private var tokens: [UInt32] = []
  private var tokenEnds: [Int] = []
  private var table = [Int32](repeating: 0, count: PixelTokens.tableSize)
  private var pixelCode = PixelCode()
  private var pixelHeader = HeaderBits()

  private static let blockBytes = 1 << 20

  static func rowsPerBlock(_ lineBytes: Int) -> Int { max(2, blockBytes / lineBytes & ~1) }

  /// Upper bound of the memory that `compress` writes to: all blocks stored, plus the line that
  /// made a block larger than that, with 36 bits of literals per pixel.
  static func largestBytes(lineBytes: Int, height: Int) -> Int {
    let total = lineBytes * height
    let blocks = height / rowsPerBlock(lineBytes) + 2
    return StoredBlocks.storedBytes(total) + 6 * blocks + 2 * lineBytes
      + 2 * DeflateBlockHeader.largestBytes + 64
  }

  /// Writes the stream to `target`, which must hold `PixelDeflate.largestBytes`, and returns its
  /// length. Even rows are predicted by `evenFilter`, odd ones by Up.
  mutating func compress(
    _ lines: inout Scanlines, evenFilter: ScanlineFilter, to target: UnsafeMutableRawPointer
  ) -> Int {
    var sink = BitSink(at: target)
    // zlib header: window of 32 KiB, fastest level. 0x7801 is a multiple of 31, as required.
    sink.put(0x78, count: 8)
    sink.put(0x01, count: 8)
    var checksum: UInt32 = 1
    let lineBytes = lines.lineBytes
    let step = Self.rowsPerBlock(lineBytes)
    let blockRows = min(step, lines.height)
    let windowBytes = PixelTokens.window + blockRows * lineBytes + PixelTokens.slack
    if window.count < windowBytes { window = [UInt8](repeating: 0, count: windowBytes) }
    let tokenCount = blockRows * (lines.rowBytes / 3)
    if tokens.count < tokenCount { tokens = [UInt32](repeating: 0, count: tokenCount) }
    for i in table.indices { table[i] = -1 }

    var floor = 0
    var first = 0
    while first < lines.height {
      let rows = first..<min(first + step, lines.height)
      let isLast = rows.upperBound == lines.height
      let before = (sink, checksum)
      let isSmaller = writeCoded(
        &lines, rows: rows, evenFilter: evenFilter, floor: floor, isLast: isLast, to: &sink,
        checksum: &checksum)
      if !isSmaller {
        (sink, checksum) = before
        StoredBlocks.write(&lines, rows: rows, isLast: isLast, to: &sink, checksum: &checksum)
        floor = rows.upperBound * lineBytes
      }
      first = rows.upperBound
    }
    sink.alignToByte()
    for shift in [24, 16, 8, 0] { sink.put(Int(checksum >> UInt32(shift)) & 255, count: 8) }
    return sink.position - target
  }

  /// Writes a block with its own codes; returns false as soon as storing it would be smaller.
  private mutating func writeCoded(
    _ lines: inout Scanlines, rows: Range<Int>, evenFilter: ScanlineFilter, floor: Int,
    isLast: Bool, to sink: inout BitSink, checksum: inout UInt32
  ) -> Bool {
    fill(&lines, rows: rows, evenFilter: evenFilter, checksum: &checksum)
    findTokens(lines, rows: rows, evenFilter: evenFilter, floor: floor)
    let start = sink.position
    let largest = StoredBlocks.storedBytes(rows.count * lines.lineBytes)
    return tokens.withUnsafeBufferPointer { tokens in
      guard let tokens = tokens.baseAddress else { return false }
      pixelHeader.write(isLast: isLast, to: &sink)
      var begin = 0
      for (index, y) in rows.enumerated() {
        pixelCode.write(
          filter: y & 1 == 0 ? evenFilter : .up, tokens + begin, count: tokenEnds[index] - begin,
          to: &sink)
        begin = tokenEnds[index]
        if sink.position - start > largest { return false }
      }
      pixelCode.endBlock(&sink)
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
      pixelCode.count { counts in
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
      pixelCode.make(filters: [(evenFilter, (rows.count + 1) / 2), (.up, rows.count / 2)])
      pixelHeader.make(lengths: pixelCode.lengths, distances: pixelCode.distanceLengths)
    }
  }
}

/// The Huffman codes of pixels and matches of pixels.
struct PixelCode {
  private var counts = [UInt32](repeating: 0, count: PixelTokens.countsSize)
  private var symbolCounts = [UInt32](repeating: 0, count: DeflateRuns.symbolCount)
  private var distanceCounts = [UInt32](repeating: 0, count: 30)
  private var code = HuffmanCode()
  private var distanceCode = HuffmanCode()
  /// Entries of `LineTokens` for each literal, then for each length.
  private var entries = [UInt32](repeating: 0, count: 256 + 259)
  /// For each distance symbol: its code from bit 16 on, the total length of code and extra bits in
  /// bits 8 ..< 16, the length of the code below.
  private var distances = [UInt32](repeating: 0, count: 32)

  var lengths: [UInt8] { code.lengths }
  var distanceLengths: [UInt8] { distanceCode.lengths }

  /// Longest codes: a match has at most 12 + 5 + 12 + 13 bits, a pixel 36.
  private static let longestCode = 12

  /// Resets the counts and lets `body` count with `PixelTokens.find`.
  mutating func count(_ body: (UnsafeMutablePointer<UInt32>) -> Void) {
    counts.withUnsafeMutableBufferPointer { counts in
      guard let target = counts.baseAddress else { return }
      counts.update(repeating: 0)
      body(target)
    }
  }

  /// Builds the codes from the counts and the filter bytes of the lines, given as filter and number
  /// of lines.
  mutating func make(filters: [(ScanlineFilter, Int)]) {
    for symbol in symbolCounts.indices { symbolCounts[symbol] = 0 }
    for literal in 0..<256 {
      symbolCounts[literal] = counts[literal] + counts[256 + literal] + counts[512 + literal]
    }
    for (filter, count) in filters { symbolCounts[Int(filter.rawValue)] += UInt32(count) }
    for length in DeflateRuns.lengths {
      symbolCounts[DeflateRuns.byLength[length].symbol] +=
        counts[PixelTokens.lengthCountsStart + length]
    }
    symbolCounts[DeflateRuns.endOfBlock] = 1
    for symbol in 0..<30 {
      distanceCounts[symbol] = counts[PixelTokens.distanceCountsStart + symbol]
    }
    code.build(counts: symbolCounts, limit: Self.longestCode)
    distanceCode.build(counts: distanceCounts, limit: Self.longestCode)
    makeTables()
  }

  private mutating func makeTables() {
    for literal in 0..<256 {
      entries[literal] = LineTokens.entry(code.codes[literal], code.lengths[literal])
    }
    for length in DeflateRuns.lengths {
      let run = DeflateRuns.byLength[length]
      let symbolBits = Int(code.lengths[run.symbol])
      entries[256 + length] = LineTokens.entry(
        Int(code.codes[run.symbol]) | run.extraValue << symbolBits, symbolBits + run.extraBits)
    }
    for symbol in 0..<30 {
      let bits = UInt32(distanceCode.lengths[symbol])
      let extraBits = UInt32(symbol < 2 ? 0 : (symbol - 2) / 2)
      distances[symbol] =
        UInt32(distanceCode.codes[symbol]) << 16 | (bits + extraBits) << 8 | bits
    }
  }

  func endBlock(_ sink: inout BitSink) {
    sink.put(
      Int(code.codes[DeflateRuns.endOfBlock]), count: Int(code.lengths[DeflateRuns.endOfBlock]))
  }

  /// Writes the filter byte of a line and its tokens.
  func write(
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

/// The encoded header of a block, which may be written many times.
struct HeaderBits {
  private var bytes = [UInt8](repeating: 0, count: DeflateBlockHeader.largestBytes + 16)
  private(set) var bitCount = 0
  private var header = DeflateBlockHeader()

  mutating func make(lengths: [UInt8], distances: [UInt8]) {
    bytes.withUnsafeMutableBytes { bytes in
      guard let start = bytes.baseAddress else { return }
      var sink = BitSink(at: start)
      header.write(lengths: lengths, distances: distances, isLast: false, to: &sink)
      bitCount = 8 * (sink.position - start) + Int(sink.bitCount)
    }
  }

  func write(isLast: Bool, to sink: inout BitSink) {
    bytes.withUnsafeBytes { bytes in
      var output = sink
      // The first bit says whether the block is the last.
      var first: UInt64 = isLast ? 1 : 0
      var done = 0
      while done < bitCount {
        let count = min(56, bitCount - done)
        let word = UInt64(
          littleEndian: bytes.loadUnaligned(fromByteOffset: done >> 3, as: UInt64.self))
        output.add(word & ((1 << UInt64(count)) - 1) | first, count: UInt64(count))
        output.flush()
        first = 0
        done += count
      }
      sink = output
    }
  }
}

/// Writes lines as stored blocks of deflate, for data that cannot be compressed.
enum StoredBlocks {
  static let longest = 65_535

  /// Encoded size of `count` bytes, from the second byte of the first block on.
  static func storedBytes(_ count: Int) -> Int { count + 5 * ((count + longest - 1) / longest) }

  /// Writes the rows unpredicted, in stored blocks of at most 65,535 bytes.
  static func write(
    _ lines: inout Scanlines, rows: Range<Int>, isLast: Bool, to sink: inout BitSink,
    checksum: inout UInt32
  ) {
    let lineBytes = lines.lineBytes
    var rest = rows.count * lineBytes
    var leftInBlock = 0
    for y in rows {
      let line = lines.line(y, filter: .none)
      checksum = libdeflate_adler32(checksum, line, lineBytes)
      var offset = 0
      while offset < lineBytes {
        if leftInBlock == 0 {
          leftInBlock = min(rest, longest)
          sink.put(isLast && leftInBlock == rest ? 1 : 0, count: 1)
          sink.put(0, count: 2)
          sink.alignToByte()
          sink.put(leftInBlock, count: 16)
          sink.put(leftInBlock ^ 0xffff, count: 16)
        }
        let step = min(leftInBlock, lineBytes - offset)
        sink.append(line + offset, count: step)
        offset += step
        leftInBlock -= step
        rest -= step
      }
    }
  }
}
