import CDeflate

/// Writes the lines of a picture as a zlib stream, in blocks of at most about a megabyte: each has
/// Huffman codes of its own, counted on all of its lines or on a sample of them, or is stored when the
/// codes do not pay. Values of 16 bits are `DepthDeflate`'s.
///
/// The output depends on the pixels alone, never on what was written before.
struct FastDeflate {
  private var code = LineCode()
  private var header = DeflateBlockHeader()
  private var depth: DepthDeflate?

  private static let blockBytes = 1 << 20
  /// Above this a table of all pairs of literals (26 µs to make) pays.
  private static let leastBytesForPairs = 96 << 10
  /// Above this only every eighth line is counted: codes are within 1 % of the best (and often better,
  /// as fewer of the rare symbols get a code worth describing), counting is eight times as fast.
  private static let leastBytesForSampling = 256 << 10
  private static let samplingStep = 8

  /// An upper bound of what `compress` writes and of how far beyond it may touch memory: everything
  /// stored, and one line and header more, since a block is given up only after the line that made it
  /// larger than stored.
  static func largestBytes(lineBytes: Int, height: Int) -> Int {
    let total = lineBytes * height
    let blocks =
      total / blockBytes + total / StoredBlocks.longest + height / linesPerBlock(lineBytes) + 2
    return total + 6 * blocks + 2 * lineBytes + DeflateBlockHeader.largestBytes + 64
  }

  private static func linesPerBlock(_ lineBytes: Int) -> Int { max(1, blockBytes / lineBytes) }

  /// Writes the stream to `target`, which has room for `largestBytes`, and returns its length.
  mutating func compress(
    _ lines: inout Scanlines, to target: UnsafeMutableRawPointer
  ) -> Int {
    if lines.format == .gray16 {
      var depth = self.depth.take() ?? DepthDeflate()
      defer { self.depth = depth }
      return depth.compress(&lines, to: target)
    }
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
        StoredBlocks.write(
          &lines, rows: range, isLast: isLast, to: &sink, checksum: &checksum)
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
    let period = 1
    let bytes = rows.count * lines.lineBytes
    let isSampled = bytes >= Self.leastBytesForSampling
    count(&lines, rows: rows, period: period, step: isSampled ? Self.samplingStep : 1)
    let usesPairs = bytes >= Self.leastBytesForPairs
    code.make(smoothed: isSampled, period: period, withPairs: usesPairs)

    let start = sink.position
    let largest = StoredBlocks.storedBytes(bytes)
    header.write(lengths: code.lengths, isLast: isLast, to: &sink)
    let lineBytes = lines.lineBytes
    let isSmaller: Bool? = code.write { table in
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
      return true
    }
    guard isSmaller == true else { return false }
    code.endBlock(&sink)
    return sink.position - start <= largest
  }

  /// Counts the tokens of one line in `step`, at changing places so that no pattern goes unseen.
  private mutating func count(
    _ lines: inout Scanlines, rows: Range<Int>, period: Int, step: Int
  ) {
    code.count { counts in
      var group = 0
      while rows.lowerBound + group * step < rows.upperBound {
        // The multiplier of Fibonacci hashing, 2^64 / golden ratio.
        let hash = Int(truncatingIfNeeded: (UInt64(group) &* 0x9e37_79b9_7f4a_7c15) >> 32)
        let y = min(rows.lowerBound + group * step + hash % step, rows.upperBound - 1)
        LineTokens.count(
          lines.line(y, filter: .paeth), count: lines.lineBytes, period: period, counts: counts)
        group += 1
      }
    }
  }
}
