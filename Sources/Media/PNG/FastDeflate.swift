import CDeflate
import CPlatform

/// Writes the lines of a picture as literals and runs, in blocks of at most about a megabyte. Each
/// block has its own Huffman code, counted on all of its lines or on a sample.
///
/// Lines are predicted by Paeth and have runs of one byte. Those of 16-bit gray have runs of one
/// value, and the filter is chosen row by row.
struct FastDeflate {
  private let isWide: Bool
  private var choice: FilterChoice
  private var code = LineCode()
  private var header = DeflateBlockHeader()

  private static let blockBytes = 1 << 20
  /// Block size in bytes from which a table of all pairs of literals (26 µs to build) saves time.
  private static let leastBytesForPairs = 96 << 10
  /// Block size in bytes above which only every eighth line is counted. Codes are then within 1 %
  /// of the best, often better because fewer rare symbols need a code, and counting is eight times
  /// as fast.
  private static let leastBytesForSampling = 256 << 10
  /// The block size for 16-bit values, of which every fourth line is counted up to there.
  private static let leastValueBytesForSampling = 64 << 10
  private static let samplingStep = 8

  /// - Parameter isWide: whether to use wide vectors. The output is the same.
  init(isWide: Bool = GrayFinder.hasWide) {
    self.isWide = isWide
    choice = FilterChoice(isWide: isWide)
  }

  /// An upper bound of the memory that `compress` writes to: all blocks stored, plus one line and a
  /// header, since a block is abandoned only after the line that made it larger than stored.
  static func largestBytes(lineBytes: Int, height: Int) -> Int {
    let total = lineBytes * height
    let blocks =
      total / blockBytes + total / Scanlines.longestStoredBlock + height / linesPerBlock(lineBytes)
      + 2
    return total + 6 * blocks + 2 * lineBytes + DeflateBlockHeader.largestBytes + 64
  }

  static func linesPerBlock(_ lineBytes: Int) -> Int { max(1, blockBytes / lineBytes) }

  /// Writes the stream to `target`, which must hold `largestBytes`, and returns its length.
  mutating func compress(_ lines: inout Scanlines, to target: UnsafeMutableRawPointer) -> Int {
    lines.deflate(blockRows: Self.linesPerBlock(lines.lineBytes), to: target) {
      lines, rows, _, isLast, sink, checksum in
      writeCoded(&lines, rows: rows, isLast: isLast, to: &sink, checksum: &checksum)
    }
  }

  private mutating func writeCoded(
    _ lines: inout Scanlines, rows: Range<Int>, isLast: Bool, to sink: inout BitSink,
    checksum: inout UInt32
  ) -> Bool {
    let hasValues = lines.format == .gray16
    let lineBytes = lines.lineBytes
    let bytes = rows.count * lineBytes
    let step =
      bytes >= Self.leastBytesForSampling
      ? Self.samplingStep
      : hasValues && bytes >= Self.leastValueBytesForSampling ? Self.samplingStep / 2 : 1
    count(&lines, rows: rows, step: step)
    let usesPairs = bytes >= Self.leastBytesForPairs
    code.make(hasValues: hasValues, smoothed: step > 1 || hasValues, withPairs: usesPairs)

    let start = sink.position
    let largest = Scanlines.storedBytes(bytes)
    header.write(lengths: code.lengths, isLast: isLast, to: &sink)
    let isSmaller: Bool? = code.write { table in
      for y in rows {
        let line = lines.line(y, filter: hasValues ? choice.filter(&lines, row: y) : .paeth)
        checksum = libdeflate_adler32(checksum, line, lineBytes)
        if hasValues {
          sink.withState { state in
            scanmill_values_write(
              isWide, line, Int64(lineBytes), table, usesPairs, &state)
          }
        } else if usesPairs {
          // Constants, so that each loop is compiled on its own.
          LineTokens.write(line, lineBytes, table, usesPairs: true, to: &sink)
        } else {
          LineTokens.write(line, lineBytes, table, usesPairs: false, to: &sink)
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
    let hasValues = lines.format == .gray16
    code.count { counts in
      var group = 0
      while rows.lowerBound + group * step < rows.upperBound {
        // The multiplier of Fibonacci hashing, 2^64 / golden ratio.
        let hash = Int(truncatingIfNeeded: (UInt64(group) &* 0x9e37_79b9_7f4a_7c15) >> 32)
        let y = min(rows.lowerBound + group * step + hash % step, rows.upperBound - 1)
        let line = lines.line(y, filter: hasValues ? choice.filter(&lines, row: y) : .paeth)
        if hasValues {
          scanmill_values_count(isWide, line, Int64(lines.lineBytes), counts)
        } else {
          LineTokens.count(line, lines.lineBytes, counts)
        }
        group += 1
      }
    }
  }
}

/// The Huffman code of lines of literals and runs, and the lookup table for writing them.
struct LineCode {
  private var counts = [UInt32](repeating: 0, count: LineTokens.countsSize)
  private var symbolCounts = [UInt32](repeating: 0, count: DeflateRuns.symbolCount)
  private var table = [UInt32](repeating: 0, count: LineTokens.tableSize)
  private var code = HuffmanCode()

  /// Most bits of code that an entry holds. Codes of literals are limited to half of them, but not
  /// for 16-bit values, of which rare large differences must not lengthen the codes of frequent
  /// small ones: 15 is deflate's own limit.
  private static let longestPair: UInt32 = 24
  static let longest = 12
  private static let longestOfValues = 15

  var lengths: [UInt8] { code.lengths }

  /// Resets the counts and lets `body` count lines with `LineTokens`.
  mutating func count(_ body: (UnsafeMutablePointer<UInt32>) -> Void) {
    counts.withUnsafeMutableBufferPointer { counts in
      guard let target = counts.baseAddress else { return }
      counts.update(repeating: 0)
      body(target)
    }
  }

  /// Builds the code from the counts, and its table. With `smoothed` every symbol gets a code,
  /// because lines that were not counted may contain it, and because the choice between runs of
  /// values and literals depends on the code.
  mutating func make(hasValues: Bool, smoothed: Bool, withPairs: Bool) {
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
    code.build(
      counts: symbolCounts, limit: hasValues ? Self.longestOfValues : Self.longest)
    makeTable(distance: hasValues ? 2 : 1, withPairs: withPairs)
  }

  /// Encoded size of the counted lines in bits.
  var countedBits: Int {
    var bits = code.bitCount(of: symbolCounts)
    for length in DeflateRuns.lengths {
      // Extra bits, and the one bit of the distance.
      bits +=
        Int(counts[LineTokens.runCountsStart + length])
        * (DeflateRuns.byLength[length].extraBits + 1)
    }
    return bits
  }

  /// Calls `body` with the table.
  func write<Result>(_ body: (UnsafePointer<UInt32>) -> Result?) -> Result? {
    table.withUnsafeBufferPointer { table in
      guard let table = table.baseAddress else { return nil }
      return body(table)
    }
  }

  func endBlock(_ sink: inout BitSink) { code.put(DeflateRuns.endOfBlock, to: &sink) }

  /// Fills the table with the codes of each literal, pair of literals and run.
  private mutating func makeTable(distance: Int, withPairs: Bool) {
    let code = code
    table.withUnsafeMutableBufferPointer { table in
      for literal in 0..<256 { table[LineTokens.singlesStart + literal] = code.entry(literal) }
      for length in DeflateRuns.lengths {
        let entry = code.entry(length: length)
        // The code of distance 1 is the bit 0, that of distance 2 is 1.
        table[LineTokens.runsStart + length] =
          entry &+ 1 | UInt32(distance - 1) &<< (8 &+ entry & 255)
      }
      guard withPairs, let start = table.baseAddress else { return }
      let singles = start + LineTokens.singlesStart
      let mayNotFit = code.lengths.contains { 2 * UInt32($0) > Self.longestPair }
      for second in 0..<256 {
        let code = singles[second] >> 8
        let length = singles[second] & 255
        let row = start + second * 256
        for first in 0..<256 {
          let entry = singles[first]
          let count = (entry & 255) &+ length
          let bits = (entry &>> 8 | code &<< (entry & 255)) &<< 8 | count
          // Selects without a branch, and only where it matters: the loop is vectorized.
          row[first] = mayNotFit && count > Self.longestPair ? LineTokens.noPair : bits
        }
      }
    }
  }
}

/// Chooses the filter of a row of 16-bit values: the one with the smallest estimated size.
///
/// The choice per row makes depth files small. Aligned depth repeats the row above wherever several
/// rows of the output lie between two of the sensor, and is sloped elsewhere.
struct FilterChoice {
  /// Rows up to this many bytes are sampled twice as densely, those of `wide` half as densely; otherwise one piece per
  /// `step` bytes.
  private static let narrow = 1024
  private static let wide = 3072
  private static let step = 512
  private static let piece = 128
  /// Bytes before a piece that show whether its first bytes continue a run.
  private static let lead = 8

  private let isWide: Bool
  private var residual = [UInt8](repeating: 0, count: piece + lead)

  init(isWide: Bool) { self.isWide = isWide }

  /// Chooses the filter of row `y`. Cost: predicts a quarter of the row three times, about a
  /// microsecond for 1296 values.
  mutating func filter(_ lines: inout Scanlines, row y: Int) -> ScanlineFilter {
    let rowBytes = lines.rowBytes
    // In the first row Paeth equals Sub.
    guard y > 0, rowBytes >= Self.lead + 16 else { return .paeth }
    let above = lines.row(y - 1)
    let current = lines.row(y)
    let step =
      rowBytes <= Self.narrow ? Self.step / 2 : rowBytes < Self.wide ? Self.step : 2 * Self.step
    return residual.withUnsafeMutableBufferPointer { residual in
      guard let residual = residual.baseAddress else { return .paeth }
      let predicted = residual + Self.lead
      var sums: (up: Int64, paeth: Int64, sub: Int64) = (0, 0, 0)
      var start = Self.lead
      while start < rowBytes {
        let bytes = min(Self.piece, rowBytes - start)
        let count = bytes + Self.lead
        let (row, up) = (current + start - Self.lead, above + start - Self.lead)
        // Before the first piece there is no pixel: its first pixel is left out.
        let skipped = start == Self.lead ? 2 : 0
        ScanlineKernels.up(current: row, above: up, count: count, residual: residual)
        sums.up += scanmill_value_bits(isWide, predicted, Int64(bytes))
        ScanlineKernels.paeth(
          current: row + skipped, above: up + skipped, pixelBytes: 2, count: count - skipped,
          residual: residual + skipped)
        sums.paeth += scanmill_value_bits(isWide, predicted, Int64(bytes))
        ScanlineKernels.up(
          current: row + skipped, above: row + skipped - 2, count: count - skipped,
          residual: residual + skipped)
        sums.sub += scanmill_value_bits(isWide, predicted, Int64(bytes))
        start += step
      }
      // The pieces are only a sample: Paeth is used unless another filter is clearly better.
      let most = sums.paeth - sums.paeth / 32
      if min(sums.up, sums.sub) >= most { return .paeth }
      return sums.up <= sums.sub ? .up : .sub
    }
  }
}
