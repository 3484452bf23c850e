import CDeflate

/// Writes the lines of a picture as a zlib stream, in blocks of at most about a megabyte: each has
/// Huffman codes of its own, counted on all of its lines or on a sample of them, or is stored when the
/// codes do not pay.
///
/// The output depends on the pixels alone, never on what was written before.
struct FastDeflate {
  private var counts = [UInt32](repeating: 0, count: LineTokens.countsSize)
  private var symbolCounts = [UInt32](repeating: 0, count: DeflateRuns.symbolCount)
  private var table = [UInt32](repeating: 0, count: LineTokens.tableSize)
  private var code = HuffmanCode()
  private var header = DeflateBlockHeader()

  private static let blockBytes = 1 << 20
  /// Above this a table of all pairs of literals (26 µs to make) pays.
  private static let leastBytesForPairs = 96 << 10
  /// Above this only every eighth line is counted: codes are within 1 % of the best (and often better,
  /// as fewer of the rare symbols get a code worth describing), counting is eight times as fast.
  private static let leastBytesForSampling = 256 << 10
  private static let samplingStep = 8
  private static let storedChunkBytes = 65_535

  /// An upper bound of what `compress` writes and of how far beyond it may touch memory: everything
  /// stored, and one line and header more, since a block is given up only after the line that made it
  /// larger than stored.
  static func largestBytes(lineBytes: Int, height: Int) -> Int {
    let total = lineBytes * height
    let blocks =
      total / blockBytes + total / storedChunkBytes + height / linesPerBlock(lineBytes) + 2
    return total + 6 * blocks + 2 * lineBytes + DeflateBlockHeader.largestBytes + 64
  }

  private static func linesPerBlock(_ lineBytes: Int) -> Int { max(1, blockBytes / lineBytes) }

  /// Writes the stream to `target`, which has room for `largestBytes`, and returns its length.
  mutating func compress(
    _ lines: inout Scanlines, to target: UnsafeMutableRawPointer
  ) -> Int {
    var sink = BitSink(at: target)
    // Deflate with a window of 32 KiB, fastest: 0x7801 is a multiple of 31, as it must be.
    sink.put(0x78, count: 8)
    sink.put(0x01, count: 8)
    var checksum: UInt32 = 1
    let step = Self.linesPerBlock(lines.lineBytes)
    var first = 0
    while first < lines.height {
      let range = first..<min(first + step, lines.height)
      let isLast = range.upperBound == lines.height
      let before = (sink, checksum)
      if !writeCoded(&lines, rows: range, isLast: isLast, to: &sink, checksum: &checksum) {
        (sink, checksum) = before
        writeStored(&lines, rows: range, isLast: isLast, to: &sink, checksum: &checksum)
      }
      first = range.upperBound
    }
    sink.alignToByte()
    for shift in [24, 16, 8, 0] { sink.put(Int(checksum >> UInt32(shift)) & 255, count: 8) }
    return sink.position - target
  }

  /// Writes a block with codes of its own; false as soon as storing it would be smaller.
  private mutating func writeCoded(
    _ lines: inout Scanlines, rows: Range<Int>, isLast: Bool, to sink: inout BitSink,
    checksum: inout UInt32
  ) -> Bool {
    let period = lines.format == .gray16 ? 2 : 1
    let bytes = rows.count * lines.lineBytes
    let isSampled = bytes >= Self.leastBytesForSampling
    count(&lines, rows: rows, period: period, step: isSampled ? Self.samplingStep : 1)
    let usesPairs = bytes >= Self.leastBytesForPairs
    makeCode(smoothed: isSampled)
    makeTable(period: period, withPairs: usesPairs)

    let start = sink.position
    let largest = bytes + 5 * ((bytes + Self.storedChunkBytes - 1) / Self.storedChunkBytes)
    header.write(lengths: code.lengths, isLast: isLast, to: &sink)
    let lineBytes = lines.lineBytes
    return table.withUnsafeBufferPointer { table in
      guard let table = table.baseAddress else { return false }
      for y in rows {
        let line = lines.line(y, filter: .paeth)
        checksum = libdeflate_adler32(checksum, line, lineBytes)
        if usesPairs {
          LineTokens.write(
            line, count: lineBytes, period: period, table: table, usesPairs: true, to: &sink)
        } else {
          LineTokens.write(
            line, count: lineBytes, period: period, table: table, usesPairs: false, to: &sink)
        }
        if sink.position - start > largest { return false }
      }
      sink.put(
        Int(code.codes[DeflateRuns.endOfBlock]), count: Int(code.lengths[DeflateRuns.endOfBlock]))
      return sink.position - start <= largest
    }
  }

  /// Counts the tokens of one line in `step`, at changing places so that no pattern goes unseen.
  private mutating func count(
    _ lines: inout Scanlines, rows: Range<Int>, period: Int, step: Int
  ) {
    counts.withUnsafeMutableBufferPointer { counts in
      guard let target = counts.baseAddress else { return }
      counts.update(repeating: 0)
      var group = 0
      while rows.lowerBound + group * step < rows.upperBound {
        // The multiplier of Fibonacci hashing, 2^64 / golden ratio.
        let hash = Int(truncatingIfNeeded: (UInt64(group) &* 0x9e37_79b9_7f4a_7c15) >> 32)
        let y = min(rows.lowerBound + group * step + hash % step, rows.upperBound - 1)
        LineTokens.count(
          lines.line(y, filter: .paeth), count: lines.lineBytes, period: period, counts: target)
        group += 1
      }
    }
  }

  /// With `smoothed` every symbol gets a code, since lines that were not counted may hold it.
  private mutating func makeCode(smoothed: Bool) {
    let least: UInt32 = smoothed ? 1 : 0
    for symbol in symbolCounts.indices { symbolCounts[symbol] = least }
    for literal in 0..<256 {
      symbolCounts[literal] +=
        counts[literal] + counts[256 + literal] + counts[512 + literal] + counts[768 + literal]
    }
    for length in DeflateRuns.lengths {
      symbolCounts[DeflateRuns.byLength[length].symbol] +=
        counts[LineTokens.runCountsStart + length]
    }
    symbolCounts[DeflateRuns.endOfBlock] = 1
    code.build(counts: symbolCounts, limit: LineTokens.longestCode)
  }

  /// Fills the table of what to write for each literal, pair of literals and run.
  private mutating func makeTable(period: Int, withPairs: Bool) {
    let lengths = code.lengths
    let codes = code.codes
    table.withUnsafeMutableBufferPointer { table in
      for literal in 0..<256 {
        table[LineTokens.singlesStart + literal] = LineTokens.entry(
          codes[literal], lengths[literal])
      }
      // The code of distance 1 is 0, that of distance 2 is 1.
      let distance = period - 1
      for length in DeflateRuns.lengths {
        let run = DeflateRuns.byLength[length]
        let symbolBits = Int(lengths[run.symbol])
        let bits =
          Int(codes[run.symbol]) | run.extraValue << symbolBits
          | distance << (symbolBits + run.extraBits)
        table[LineTokens.runsStart + length] = LineTokens.entry(
          bits, symbolBits + run.extraBits + 1)
      }
      guard withPairs, let start = table.baseAddress else { return }
      let singles = start + LineTokens.singlesStart
      for second in 0..<256 {
        let code = singles[second] >> 8
        let length = singles[second] & 255
        let row = start + second * 256
        var first = 0
        while first < 256 {
          let entry = singles[first]
          let bits = entry &>> 8 | code &<< (entry & 255)
          row[first] = bits &<< 8 | ((entry & 255) &+ length)
          first &+= 1
        }
      }
    }
  }

  /// Writes the rows unpredicted, in stored blocks of at most 65,535 bytes.
  private func writeStored(
    _ lines: inout Scanlines, rows: Range<Int>, isLast: Bool, to sink: inout BitSink,
    checksum: inout UInt32
  ) {
    let lineBytes = lines.lineBytes
    var rest = rows.count * lineBytes
    var roomInChunk = 0
    for y in rows {
      let line = lines.line(y, filter: .none)
      checksum = libdeflate_adler32(checksum, line, lineBytes)
      var offset = 0
      while offset < lineBytes {
        if roomInChunk == 0 {
          roomInChunk = min(rest, Self.storedChunkBytes)
          sink.put(isLast && roomInChunk == rest ? 1 : 0, count: 1)
          sink.put(0, count: 2)
          sink.alignToByte()
          sink.put(roomInChunk, count: 16)
          sink.put(roomInChunk ^ 0xffff, count: 16)
        }
        let step = min(roomInChunk, lineBytes - offset)
        sink.append(line + offset, count: step)
        offset += step
        roomInChunk -= step
        rest -= step
      }
    }
  }
}
