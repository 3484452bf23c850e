/// A length-limited prefix code for the symbols 0 ..< n in deflate's form: canonical, with the bits
/// of each code in the order in which they are written.
struct HuffmanCode {
  /// Length of each symbol's code in bits; 0 for a symbol that does not occur.
  private(set) var lengths: [UInt8] = []
  /// Each symbol's code; the first bit is the lowest.
  private(set) var codes: [UInt16] = []

  private var weights: [Int] = []
  private var order: [UInt64] = []

  /// Builds the best code for symbols that occur `counts` times, with no code longer than `limit`
  /// bits (if the limit matters, a good one). Fewer than two symbols are extended to two, so that
  /// the code is complete.
  ///
  /// Cost: n log n; about 10 µs for 286 symbols.
  mutating func build(counts: [UInt32], limit: Int) {
    lengths.removeAll(keepingCapacity: true)
    lengths.append(contentsOf: repeatElement(0, count: counts.count))
    codes.removeAll(keepingCapacity: true)
    codes.append(contentsOf: repeatElement(0, count: counts.count))
    order.removeAll(keepingCapacity: true)
    for (symbol, count) in counts.enumerated() where count > 0 {
      order.append(UInt64(count) << 16 | UInt64(symbol))
    }
    for symbol in 0..<2 where order.count < 2 && counts[symbol] == 0 {
      order.append(UInt64(1) << 16 | UInt64(symbol))
    }
    order.sort()
    findDepths()
    assignLengths(limit: limit)
    assignCodes()
  }

  /// Encoded size in bits of data with these counts.
  func bitCount(of counts: [UInt32]) -> Int {
    var bits = 0
    for (count, length) in zip(counts, lengths) { bits += Int(count) * Int(length) }
    return bits
  }

  /// Stores in `weights` the depth of each leaf of `order`, rarest first, by the method of Moffat
  /// and Katajainen (In-Place Calculation of Minimum-Redundancy Codes, 1995): weights become
  /// parents, parents become inner depths, inner depths become leaf depths.
  private mutating func findDepths() {
    let count = order.count
    weights.removeAll(keepingCapacity: true)
    for key in order { weights.append(Int(key >> 16)) }

    weights[0] += weights[1]
    var root = 0
    var leaf = 2
    for next in 1..<max(1, count - 1) {
      if leaf >= count || weights[root] < weights[leaf] {
        weights[next] = weights[root]
        weights[root] = next
        root += 1
      } else {
        weights[next] = weights[leaf]
        leaf += 1
      }
      if leaf >= count || (root < next && weights[root] < weights[leaf]) {
        weights[next] += weights[root]
        weights[root] = next
        root += 1
      } else {
        weights[next] += weights[leaf]
        leaf += 1
      }
    }

    weights[count - 2] = 0
    for next in stride(from: count - 3, through: 0, by: -1) {
      weights[next] = weights[weights[next]] + 1
    }

    var available = 1
    var depth = 0
    var inner = count - 2
    var next = count - 1
    while available > 0 {
      var used = 0
      while inner >= 0 && weights[inner] == depth {
        used += 1
        inner -= 1
      }
      while available > used {
        weights[next] = depth
        next -= 1
        available -= 1
      }
      available = 2 * used
      depth += 1
    }
  }

  /// Shortens codes above `limit` and lengthens others until the code is complete again.
  private mutating func assignLengths(limit: Int) {
    var leaves = [Int](repeating: 0, count: limit + 1)
    for depth in weights { leaves[min(max(depth, 1), limit)] += 1 }
    var excess = -(1 << limit)
    for length in 1...limit { excess += leaves[length] << (limit - length) }
    while excess > 0 {
      // A leaf one level higher becomes a node with that leaf and one of the lowest leaves below
      // it.
      var length = limit - 1
      while length > 1 && leaves[length] == 0 { length -= 1 }
      leaves[length] -= 1
      leaves[length + 1] += 2
      leaves[limit] -= 1
      excess -= 1
    }
    var rank = 0
    for length in stride(from: limit, through: 1, by: -1) {
      for _ in 0..<leaves[length] {
        lengths[Int(order[rank] & 0xffff)] = UInt8(length)
        rank += 1
      }
    }
  }

  /// Assigns the canonical codes of RFC 1951, section 3.2.2.
  private mutating func assignCodes() {
    var leaves = [UInt16](repeating: 0, count: 16)
    for length in lengths where length > 0 { leaves[Int(length)] += 1 }
    var nextCodes = [UInt16](repeating: 0, count: 16)
    var code: UInt16 = 0
    for length in 1..<16 {
      code = (code &+ leaves[length - 1]) << 1
      nextCodes[length] = code
    }
    for (symbol, length) in lengths.enumerated() where length > 0 {
      codes[symbol] = Self.reversed(nextCodes[Int(length)]) >> UInt16(16 - length)
      nextCodes[Int(length)] &+= 1
    }
  }

  private static func reversed(_ value: UInt16) -> UInt16 {
    var v = value
    v = (v & 0x5555) << 1 | (v >> 1) & 0x5555
    v = (v & 0x3333) << 2 | (v >> 2) & 0x3333
    v = (v & 0x0f0f) << 4 | (v >> 4) & 0x0f0f
    return v.byteSwapped
  }
}
