import CDeflate

extension Scanlines {
  /// Writes the lines to `target` as a zlib stream of blocks of `blockRows` rows and returns its length.
  /// A block is stored where that is smaller. The output depends on the pixels alone.
  ///
  /// - Parameter coded: writes a block with codes of its own and adds its lines to the checksum;
  ///   returns false as soon as storing it would be smaller. A match may not begin before `floor`,
  ///   the end of the last stored block in bytes of lines.
  @inline(__always)
  mutating func deflate(
    blockRows: Int, to target: UnsafeMutableRawPointer,
    coded: (
      _ lines: inout Scanlines, _ rows: Range<Int>, _ floor: Int, _ isLast: Bool,
      _ sink: inout BitSink, _ checksum: inout UInt32
    ) -> Bool
  ) -> Int {
    var sink = BitSink(position: target)
    // zlib header: window of 32 KiB, fastest level. 0x7801 is a multiple of 31, as required.
    sink.put(0x78, count: 8)
    sink.put(0x01, count: 8)
    var checksum: UInt32 = 1
    var floor = 0
    for first in stride(from: 0, to: height, by: blockRows) {
      let rows = first..<min(first + blockRows, height)
      let isLast = rows.upperBound == height
      let before = (sink, checksum)
      if !coded(&self, rows, floor, isLast, &sink, &checksum) {
        (sink, checksum) = before
        store(rows: rows, isLast: isLast, to: &sink, checksum: &checksum)
        floor = rows.upperBound * lineBytes
      }
    }
    sink.alignToByte()
    for shift in [24, 16, 8, 0] { sink.put(Int(checksum >> UInt32(shift)) & 255, count: 8) }
    return sink.position - target
  }
}

extension Scanlines {
  static let longestStoredBlock = 65_535

  /// Encoded size of `count` bytes in stored blocks, from the second byte of the first block on.
  static func storedBytes(_ count: Int) -> Int {
    count + 5 * ((count + longestStoredBlock - 1) / longestStoredBlock)
  }

  /// Writes the rows unpredicted, in stored blocks of deflate: data that cannot be compressed.
  private mutating func store(
    rows: Range<Int>, isLast: Bool, to sink: inout BitSink, checksum: inout UInt32
  ) {
    var rest = rows.count * lineBytes
    var leftInBlock = 0
    for y in rows {
      let line = line(y, filter: .none)
      checksum = libdeflate_adler32(checksum, line, lineBytes)
      var offset = 0
      while offset < lineBytes {
        if leftInBlock == 0 {
          leftInBlock = min(rest, Self.longestStoredBlock)
          sink.put(isLast && leftInBlock == rest ? 1 : 0, count: 1)
          sink.put(0, count: 2)
          sink.alignToByte()
          sink.put(leftInBlock, count: 16)
          sink.put(leftInBlock ^ 0xffff, count: 16)
        }
        let step = min(leftInBlock, lineBytes - offset)
        sink.append(line + offset, count: step)
        offset += step
        leftInBlock -= step
        rest -= step
      }
    }
  }
}

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

  /// Takes the lengths of a complete code, at most 15 bits.
  mutating func build(lengths: [UInt8]) {
    self.lengths = lengths
    codes = [UInt16](repeating: 0, count: lengths.count)
    assignCodes()
  }

  /// Writes the code of a symbol.
  func put(_ symbol: Int, to sink: inout BitSink) {
    sink.put(Int(codes[symbol]), count: Int(lengths[symbol]))
  }

  /// An entry of the tables by which the loops write: the number of bits in the low eight bits, the
  /// bits to write above.
  func entry(_ symbol: Int) -> UInt32 { UInt32(codes[symbol]) << 8 | UInt32(lengths[symbol]) }

  /// The entry of the length of a match, with its extra bits.
  func entry(length: Int) -> UInt32 {
    let run = DeflateRuns.byLength[length]
    let bits = UInt32(lengths[run.symbol])
    return (UInt32(codes[run.symbol]) | UInt32(run.extraValue) << bits) << 8
      | (bits + UInt32(run.extraBits))
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

/// How deflate encodes match lengths (RFC 1951, section 3.2.5).
enum DeflateRuns {
  /// Shortest and longest match.
  static let lengths = 3...258

  /// Number of symbols: literals, end of block and match lengths.
  static let symbolCount = 286
  static let endOfBlock = 256

  struct Length {
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
      code.put(token.symbol, to: &sink)
      switch token.symbol {
      case 16: sink.put(token.extra, count: 2)
      case 17: sink.put(token.extra, count: 3)
      case 18: sink.put(token.extra, count: 7)
      default: break
      }
    }
  }

  mutating func write(_ code: PixelCode, isLast: Bool, to sink: inout BitSink) {
    write(
      lengths: code.literals.lengths, distances: code.distances.lengths, isLast: isLast, to: &sink)
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

/// Writes the bits of a deflate stream, lowest bit of each byte first.
///
/// Writes up to eight bytes past the last whole byte, so the memory must extend that far.
struct BitSink {
  /// Address of the first byte that is not complete.
  var position: UnsafeMutableRawPointer
  /// The bits above the valid ones are 0.
  var bits: UInt64 = 0
  /// Number of valid bits in `bits`; at most 7 after `flush`.
  var bitCount: UInt64 = 0

  /// Appends the low `count` bits of `value`, whose other bits must be 0. At most 57 bits may be
  /// added between two flushes. Only the low six bits of `count` are used.
  @inline(__always)
  mutating func add(_ value: UInt64, count: UInt64) {
    bits |= value &<< bitCount
    bitCount &+= count & 63
  }

  /// Moves all whole bytes to memory.
  @inline(__always)
  mutating func flush() {
    position.storeBytes(of: bits.littleEndian, as: UInt64.self)
    position += Int(truncatingIfNeeded: bitCount &>> 3)
    bits = bits &>> (bitCount & 56)
    bitCount &= 7
  }

  mutating func put(_ value: Int, count: Int) {
    add(UInt64(truncatingIfNeeded: value), count: UInt64(truncatingIfNeeded: count))
    flush()
  }

  /// Fills the last byte with zero bits.
  mutating func alignToByte() {
    flush()
    if bitCount > 0 {
      bitCount = 8
      flush()
    }
  }

  /// Appends bytes; call only when aligned to a byte.
  mutating func append(_ source: UnsafeRawPointer, count: Int) {
    position.copyMemory(from: source, byteCount: count)
    position += count
  }
}
