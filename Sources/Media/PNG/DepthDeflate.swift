import CDeflate

/// Writes the lines of a 16-bit picture as a zlib stream, in blocks of at most about a megabyte.
/// Each block has its own Huffman code, counted on all of its lines or on a sample, or is stored if
/// that is smaller. The filter is chosen row by row.
///
/// The output depends on the pixels alone, never on earlier pictures.
struct DepthDeflate {
  private var choice = FilterChoice()
  private var code = DepthCode()
  private var header = DeflateBlockHeader()

  private static let blockBytes = 1 << 20
  /// Block size in bytes from which a table of all pairs of literals (26 µs to build) saves time.
  private static let leastBytesForPairs = 96 << 10
  /// Block size in bytes above which only every eighth line is counted.
  private static let leastBytesForSampling = 256 << 10
  private static let samplingStep = 8

  /// Writes the stream to `target`, which must hold `FastDeflate.largestBytes`, and returns its
  /// length.
  mutating func compress(_ lines: inout Scanlines, to target: UnsafeMutableRawPointer) -> Int {
    var sink = BitSink(at: target)
    // zlib header: window of 32 KiB, fastest level. 0x7801 is a multiple of 31, as required.
    sink.put(0x78, count: 8)
    sink.put(0x01, count: 8)
    var checksum: UInt32 = 1
    let step = max(1, Self.blockBytes / lines.lineBytes)
    var first = 0
    while first < lines.height {
      let range = first..<min(first + step, lines.height)
      let isLast = range.upperBound == lines.height
      let before = (sink, checksum)
      if !writeCoded(&lines, rows: range, isLast: isLast, to: &sink, checksum: &checksum) {
        (sink, checksum) = before
        StoredBlocks.write(&lines, rows: range, isLast: isLast, to: &sink, checksum: &checksum)
      }
      first = range.upperBound
    }
    sink.alignToByte()
    for shift in [24, 16, 8, 0] { sink.put(Int(checksum >> UInt32(shift)) & 255, count: 8) }
    return sink.position - target
  }

  /// Writes a block with its own code; returns false as soon as storing it would be smaller.
  private mutating func writeCoded(
    _ lines: inout Scanlines, rows: Range<Int>, isLast: Bool, to sink: inout BitSink,
    checksum: inout UInt32
  ) -> Bool {
    let lineBytes = lines.lineBytes
    let bytes = rows.count * lineBytes
    count(&lines, rows: rows, step: bytes >= Self.leastBytesForSampling ? Self.samplingStep : 1)
    let usesPairs = bytes >= Self.leastBytesForPairs
    code.make(withPairs: usesPairs)

    let start = sink.position
    let largest = StoredBlocks.storedBytes(bytes)
    header.write(lengths: code.lengths, isLast: isLast, to: &sink)
    let isSmaller: Bool? = code.write { table in
      for y in rows {
        let line = lines.line(y, filter: choice.filter(&lines, row: y))
        checksum = libdeflate_adler32(checksum, line, lineBytes)
        if usesPairs {
          DepthTokens.write(line, count: lineBytes, table: table, usesPairs: true, to: &sink)
        } else {
          DepthTokens.write(line, count: lineBytes, table: table, usesPairs: false, to: &sink)
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
  private mutating func count(_ lines: inout Scanlines, rows: Range<Int>, step: Int) {
    code.count { counts in
      var group = 0
      while rows.lowerBound + group * step < rows.upperBound {
        // The multiplier of Fibonacci hashing, 2^64 / golden ratio.
        let hash = Int(truncatingIfNeeded: (UInt64(group) &* 0x9e37_79b9_7f4a_7c15) >> 32)
        let y = min(rows.lowerBound + group * step + hash % step, rows.upperBound - 1)
        let line = lines.line(y, filter: choice.filter(&lines, row: y))
        DepthTokens.count(line, count: lines.lineBytes, counts: counts)
        group += 1
      }
    }
  }
}
