/// The Huffman code of lines of 16-bit values, and the lookup table for writing them.
struct DepthCode {
  private var counts = [UInt32](repeating: 0, count: DepthTokens.countsSize)
  private var symbolCounts = [UInt32](repeating: 0, count: DeflateRuns.symbolCount)
  private var table = [UInt32](repeating: 0, count: DepthTokens.tableSize)
  private var code = HuffmanCode()

  var lengths: [UInt8] { code.lengths }

  /// Resets the counts and lets `body` count lines with `DepthTokens.count`.
  mutating func count(_ body: (UnsafeMutablePointer<UInt32>) -> Void) {
    counts.withUnsafeMutableBufferPointer { counts in
      guard let target = counts.baseAddress else { return }
      counts.update(repeating: 0)
      body(target)
    }
  }

  /// Builds the code from the counts, and its table. Every symbol gets a code, because lines that
  /// were not counted may contain it, and because the choice between runs and literals depends on
  /// the code.
  mutating func make(withPairs: Bool) {
    for symbol in symbolCounts.indices { symbolCounts[symbol] = 1 }
    for literal in 0..<256 {
      symbolCounts[literal] +=
        counts[literal] + counts[256 + literal] + counts[512 + literal] + counts[768 + literal]
    }
    for length in DeflateRuns.lengths {
      symbolCounts[DeflateRuns.byLength[length].symbol] +=
        counts[DepthTokens.runCountsStart + length]
    }
    symbolCounts[DeflateRuns.endOfBlock] = 1
    code.build(counts: symbolCounts, limit: DepthTokens.longestCode)
    makeTable(withPairs: withPairs)
  }

  /// Calls `body` with the table.
  func write<Result>(_ body: (UnsafePointer<UInt32>) -> Result?) -> Result? {
    table.withUnsafeBufferPointer { table in
      guard let table = table.baseAddress else { return nil }
      return body(table)
    }
  }

  func endBlock(_ sink: inout BitSink) {
    sink.put(
      Int(code.codes[DeflateRuns.endOfBlock]), count: Int(code.lengths[DeflateRuns.endOfBlock]))
  }

  private mutating func makeTable(withPairs: Bool) {
    let lengths = code.lengths
    let codes = code.codes
    table.withUnsafeMutableBufferPointer { table in
      for literal in 0..<256 {
        table[DepthTokens.singlesStart + literal] = DepthTokens.entry(
          codes[literal], lengths[literal])
      }
      // The code of distance 2 is the bit 1.
      for length in DeflateRuns.lengths {
        let run = DeflateRuns.byLength[length]
        let symbolBits = Int(lengths[run.symbol])
        let bits =
          Int(codes[run.symbol]) | run.extraValue << symbolBits
          | 1 << (symbolBits + run.extraBits)
        table[DepthTokens.runsStart + length] = DepthTokens.entry(
          bits, symbolBits + run.extraBits + 1)
      }
      guard withPairs, let start = table.baseAddress else { return }
      let singles = start + DepthTokens.singlesStart
      for second in 0..<256 {
        let code = singles[second] >> 8
        let length = singles[second] & 255
        let row = start + second * 256
        var first = 0
        while first < 256 {
          let entry = singles[first]
          let count = (entry & 255) &+ length
          let bits = (entry &>> 8 | code &<< (entry & 255)) &<< 8 | count
          row[first] = count <= UInt32(DepthTokens.longestPair) ? bits : DepthTokens.noPair
          first &+= 1
        }
      }
    }
  }
}
