/// The Huffman code of lines of literals and runs, and the lookup table for writing them.
struct LineCode {
  private var counts = [UInt32](repeating: 0, count: LineTokens.countsSize)
  private var symbolCounts = [UInt32](repeating: 0, count: DeflateRuns.symbolCount)
  private var table = [UInt32](repeating: 0, count: LineTokens.tableSize)
  private var code = HuffmanCode()

  var lengths: [UInt8] { code.lengths }

  /// Resets the counts and lets `body` count lines with `LineTokens.count`.
  mutating func count(_ body: (UnsafeMutablePointer<UInt32>) -> Void) {
    counts.withUnsafeMutableBufferPointer { counts in
      guard let target = counts.baseAddress else { return }
      counts.update(repeating: 0)
      body(target)
    }
  }

  /// Builds the code from the counts, and its table. With `smoothed` every symbol gets a code,
  /// since lines that were not counted may contain it.
  mutating func make(smoothed: Bool, period: Int, withPairs: Bool) {
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
    makeTable(period: period, withPairs: withPairs)
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

  func endBlock(_ sink: inout BitSink) {
    sink.put(
      Int(code.codes[DeflateRuns.endOfBlock]), count: Int(code.lengths[DeflateRuns.endOfBlock]))
  }

  /// Fills the table with the codes of each literal, pair of literals and run.
  private mutating func makeTable(period: Int, withPairs: Bool) {
    let lengths = code.lengths
    let codes = code.codes
    table.withUnsafeMutableBufferPointer { table in
      for literal in 0..<256 {
        table[LineTokens.singlesStart + literal] = LineTokens.entry(
          codes[literal], lengths[literal])
      }
      // The code of distance 1 is the bit 0, that of distance 2 is 1.
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
}

/// How deflate encodes match lengths (RFC 1951, section 3.2.5).
enum DeflateRuns {
  /// Shortest and longest match.
  static let lengths = 3...258

  /// Number of symbols: literals, end of block and match lengths.
  static let symbolCount = 286
  static let endOfBlock = 256

  struct Length: Sendable {
    var symbol: Int
    var extraBits: Int
    var extraValue: Int
  }

  /// The symbol for each match length; the index is the length.
  static let byLength: [Length] = {
    var table = [Length](repeating: Length(symbol: 0, extraBits: 0, extraValue: 0), count: 259)
    var length = 3
    for symbol in 257...284 {
      let extraBits = symbol < 265 ? 0 : (symbol - 261) / 4
      for value in 0..<(1 << extraBits) where length < 258 {
        table[length] = Length(symbol: symbol, extraBits: extraBits, extraValue: value)
        length += 1
      }
    }
    table[258] = Length(symbol: 285, extraBits: 0, extraValue: 0)
    return table
  }()
}
