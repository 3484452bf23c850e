import CPlatform

/// The Huffman codes of rows of literals and matched gray pixels.
struct GrayCode {
  private var counts = [UInt32](repeating: 0, count: Int(SCANMILL_GRAY_COUNTS))
  private var symbolCounts = [UInt32](repeating: 0, count: DeflateRuns.symbolCount)
  private var distanceCounts = [UInt32](repeating: 0, count: 30)
  private var code = HuffmanCode()
  private var distanceCode = HuffmanCode()
  private var entries = [UInt32](repeating: 0, count: Int(SCANMILL_GRAY_CODES))
  private var distanceEntries = [UInt32](repeating: 0, count: Int(SCANMILL_GRAY_DISTANCES))
  /// Number of counted rows by filter byte.
  private var filterCounts = [UInt32](repeating: 0, count: 5)

  var lengths: [UInt8] { code.lengths }
  var distanceLengths: [UInt8] { distanceCode.lengths }

  /// Longest codes: a match has at most 12 + 5 + 12 + 13 bits, a pixel 36.
  private static let longestCode = 12
  private static let longestStep = 86

  /// Resets the counts.
  mutating func beginCounting() {
    for index in counts.indices { counts[index] = 0 }
    for index in filterCounts.indices { filterCounts[index] = 0 }
  }

  /// Counts a line; its first byte is the filter.
  mutating func count(
    _ line: UnsafePointer<UInt8>, width: Int, distances: UnsafePointer<UInt16>,
    steps: UnsafePointer<UInt8>
  ) {
    filterCounts[min(Int(line.pointee), filterCounts.count - 1)] += 1
    counts.withUnsafeMutableBufferPointer { counts in
      guard let counts = counts.baseAddress else { return }
      scanmill_gray_count(line + 1, distances, steps, Int64(width), counts)
    }
  }

  /// Size of the counted rows in bits, and their number of tokens.
  var counted: (bits: Int, tokens: Int) {
    var tokens = 0
    for index in 0..<256 { tokens += Int(counts[index]) }
    for step in 1...Self.longestStep {
      tokens += Int(counts[Int(SCANMILL_GRAY_STEP_COUNTS) + step])
    }
    var bits = code.bitCount(of: symbolCounts) + distanceCode.bitCount(of: distanceCounts)
    for step in 1...Self.longestStep {
      bits +=
        Int(counts[Int(SCANMILL_GRAY_STEP_COUNTS) + step])
        * DeflateRuns.byLength[3 * step].extraBits
    }
    for symbol in 2..<30 { bits += Int(distanceCounts[symbol]) * ((symbol - 2) / 2) }
    return (bits, tokens)
  }

  /// Builds the codes from the counts.
  mutating func make() {
    makeCodes()
    makeTables()
  }

  mutating func makeCodes() {
    // Every symbol gets a code: rows that were not counted may contain it, and single pixels may be
    // written as literals.
    let least: UInt32 = 1
    for symbol in symbolCounts.indices { symbolCounts[symbol] = 0 }
    for literal in 0..<256 {
      symbolCounts[literal] =
        least + counts[literal] + counts[256 + literal] + counts[512 + literal]
    }
    for (filter, count) in filterCounts.enumerated() { symbolCounts[filter] += count }
    for step in 1...Self.longestStep {
      symbolCounts[DeflateRuns.byLength[3 * step].symbol] +=
        least + counts[Int(SCANMILL_GRAY_STEP_COUNTS) + step]
    }
    symbolCounts[DeflateRuns.endOfBlock] = 1
    for symbol in 0..<30 {
      distanceCounts[symbol] = least + counts[Int(SCANMILL_GRAY_DISTANCE_COUNTS) + symbol]
    }
    code.build(counts: symbolCounts, limit: Self.longestCode)
    distanceCode.build(counts: distanceCounts, limit: Self.longestCode)
  }

  private mutating func makeTables() {
    for literal in 0..<256 {
      entries[literal] = LineTokens.entry(code.codes[literal], code.lengths[literal])
    }
    for step in 1...Self.longestStep {
      let run = DeflateRuns.byLength[3 * step]
      let symbolBits = Int(code.lengths[run.symbol])
      entries[256 + step] = LineTokens.entry(
        Int(code.codes[run.symbol]) | run.extraValue << symbolBits, symbolBits + run.extraBits)
    }
    let codes = distanceCode.codes
    let lengths = distanceCode.lengths
    distanceEntries.withUnsafeMutableBufferPointer { entries in
      // No match: more bits than any pixel.
      entries[0] = 46
      var distance = 1
      for symbol in 0..<30 {
        let bits = UInt32(lengths[symbol])
        let extraBits = UInt32(symbol < 2 ? 0 : (symbol - 2) / 2)
        let code = UInt32(codes[symbol])
        for extra in 0..<(UInt32(1) << extraBits) {
          entries[distance] = (code | extra << bits) << 6 | (bits + extraBits)
          distance += 1
        }
      }
    }
  }

  func endBlock(_ sink: inout BitSink) {
    sink.put(
      Int(code.codes[DeflateRuns.endOfBlock]), count: Int(code.lengths[DeflateRuns.endOfBlock]))
  }

  /// Writes a line; its first byte is the filter.
  func write(
    _ line: UnsafePointer<UInt8>, width: Int, distances: UnsafePointer<UInt16>,
    steps: UnsafePointer<UInt8>, isWide: Bool, to sink: inout BitSink
  ) {
    entries.withUnsafeBufferPointer { entries in
      distanceEntries.withUnsafeBufferPointer { distanceEntries in
        guard let entries = entries.baseAddress, let distanceEntries = distanceEntries.baseAddress
        else { return }
        let filter = entries[Int(line.pointee)]
        sink.put(Int(filter >> 8), count: Int(filter & 255))
        sink.withState { state in
          scanmill_gray_emit(
            isWide, line + 1, distances, steps, Int64(width), entries, distanceEntries, &state)
        }
      }
    }
  }
}

extension BitSink {
  /// Calls C code that writes to this sink.
  fileprivate mutating func withState(_ body: (inout scanmill_gray_sink) -> Void) {
    var state = scanmill_gray_sink(
      position: position.assumingMemoryBound(to: UInt8.self), bits: bits, count: bitCount)
    body(&state)
    self = BitSink(
      at: UnsafeMutableRawPointer(state.position), bits: state.bits, bitCount: state.count)
  }
}
