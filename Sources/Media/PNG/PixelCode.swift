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
