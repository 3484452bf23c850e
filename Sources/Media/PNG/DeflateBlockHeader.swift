/// Writes the header of a block with dynamic Huffman codes (RFC 1951, section 3.2.7).
struct DeflateBlockHeader {
  private var tokens: [(symbol: Int, extra: Int)] = []
  private var counts: [UInt32] = []
  private var code = HuffmanCode()

  /// The order in which the lengths of the code length code are written, from the RFC.
  private static let order = [
    16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15,
  ]

  /// Upper bound of a header's size.
  static let largestBytes = 640

  /// `lengths` are those of the literal/length code. By default the distances 1 and 2 get the
  /// one-bit codes 0 and 1: a code with one distance alone would be incomplete, which some readers
  /// reject.
  mutating func write(
    lengths: [UInt8], distances: [UInt8] = [1, 1], isLast: Bool, to sink: inout BitSink
  ) {
    var distanceCount = distances.count
    while distanceCount > 1 && distances[distanceCount - 1] == 0 { distanceCount -= 1 }
    var literals = lengths.count
    while literals > 257 && lengths[literals - 1] == 0 { literals -= 1 }
    tokens.removeAll(keepingCapacity: true)
    counts.removeAll(keepingCapacity: true)
    counts.append(contentsOf: repeatElement(0, count: 19))
    collectTokens(Array(lengths[..<literals]) + distances[..<distanceCount])
    code.build(counts: counts, limit: 7)
    var orderCount = 19
    while orderCount > 4 && code.lengths[Self.order[orderCount - 1]] == 0 { orderCount -= 1 }

    sink.put(isLast ? 1 : 0, count: 1)
    sink.put(2, count: 2)
    sink.put(literals - 257, count: 5)
    sink.put(distanceCount - 1, count: 5)
    sink.put(orderCount - 4, count: 4)
    for symbol in Self.order[..<orderCount] { sink.put(Int(code.lengths[symbol]), count: 3) }
    for token in tokens {
      sink.put(Int(code.codes[token.symbol]), count: Int(code.lengths[token.symbol]))
      switch token.symbol {
      case 16: sink.put(token.extra, count: 2)
      case 17: sink.put(token.extra, count: 3)
      case 18: sink.put(token.extra, count: 7)
      default: break
      }
    }
  }

  /// Repeated lengths become the symbols 16 (previous length 3…6 times), 17 (3…10 zeros) and 18
  /// (11…138 zeros).
  private mutating func collectTokens(_ lengths: [UInt8]) {
    var i = 0
    while i < lengths.count {
      let length = lengths[i]
      var end = i + 1
      while end < lengths.count && lengths[end] == length { end += 1 }
      var rest = end - i
      if length != 0 {
        append(Int(length), extra: 0)
        rest -= 1
      }
      while rest > 0 {
        if length == 0 && rest >= 11 {
          let step = min(rest, 138)
          append(18, extra: step - 11)
          rest -= step
        } else if length == 0 && rest >= 3 {
          append(17, extra: rest - 3)
          rest = 0
        } else if length != 0 && rest >= 3 {
          let step = min(rest, 6)
          append(16, extra: step - 3)
          rest -= step
        } else {
          append(Int(length), extra: 0)
          rest -= 1
        }
      }
      i = end
    }
  }

  private mutating func append(_ symbol: Int, extra: Int) {
    tokens.append((symbol, extra))
    counts[symbol] += 1
  }
}
