import CDeflate

/// Writes the lines of a picture as a zlib stream, in blocks of at most about a megabyte. Each
/// block has its own Huffman codes, counted on all of its lines or on a sample, or is stored if
/// that is smaller. For 16-bit values see `DepthDeflate`.
///
/// The output depends on the pixels alone, never on earlier pictures.
struct FastDeflate {
  private var code = LineCode()
  private var header = DeflateBlockHeader()
  private var depth: DepthDeflate?

  private static let blockBytes = 1 << 20
  /// Block size in bytes from which a table of all pairs of literals (26 µs to build) saves time.
  private static let leastBytesForPairs = 96 << 10
  /// Block size in bytes above which only every eighth line is counted. Codes are then within 1 %
  /// of the best, often better because fewer rare symbols need a code, and counting is eight times
  /// as fast.
  private static let leastBytesForSampling = 256 << 10
  private static let samplingStep = 8

  /// An upper bound of the memory that `compress` writes to: all blocks stored, plus one line and a
  /// header, since a block is abandoned only after the line that made it larger than stored.
  static func largestBytes(lineBytes: Int, height: Int) -> Int {
    let total = lineBytes * height
    let blocks =
      total / blockBytes + total / StoredBlocks.longest + height / linesPerBlock(lineBytes) + 2
    return total + 6 * blocks + 2 * lineBytes + DeflateBlockHeader.largestBytes + 64
  }

  private static func linesPerBlock(_ lineBytes: Int) -> Int { max(1, blockBytes / lineBytes) }

  /// Writes the stream to `target`, which must hold `largestBytes`, and returns its length.
  mutating func compress(
    _ lines: inout Scanlines, to target: UnsafeMutableRawPointer
  ) -> Int {
    if lines.format == .gray16 {
      var depth = self.depth.take() ?? DepthDeflate()
      defer { self.depth = depth }
      return depth.compress(&lines, to: target)
    }
    var sink = BitSink(at: target)
    // zlib header: window of 32 KiB, fastest level. 0x7801 is a multiple of 31, as required.
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

  /// Writes a block with its own codes; returns false as soon as storing it would be smaller.
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

  /// Counts the tokens of one line in `step`, at varying positions so that no periodic pattern is
  /// missed.
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
