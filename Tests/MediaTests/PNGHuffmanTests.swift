import TestSupport
import Testing

@testable import Media

@Suite("Huffman codes")
struct PNGHuffmanTests {
  @Test("A code is the shortest possible when the limit does not bind")
  func shortestCode() {
    var code = HuffmanCode()
    code.build(counts: [5, 9, 12, 13, 16, 45], limit: 12)
    #expect(code.lengths == [4, 4, 3, 3, 3, 1])
    #expect(code.bitCount(of: [5, 9, 12, 13, 16, 45]) == 224)
  }

  @Test("Codes are complete, within the limit and prefixes of none other", arguments: 0..<60)
  func codesAreComplete(seed: Int) {
    var random = SeededGenerator(seed: UInt64(seed))
    var counts = [UInt32](repeating: 0, count: 286)
    let used = 2 + Int(random.next() % 285)
    for _ in 0..<used {
      // From equal counts to ones that would give codes of forty bits.
      let magnitude = random.next() % 31
      counts[Int(random.next() % 286)] = 1 + UInt32(random.next() % (1 << magnitude))
    }
    for limit in [12, 15] {
      var code = HuffmanCode()
      code.build(counts: counts, limit: limit)
      let lengths = code.lengths.map(Int.init)
      #expect(lengths.max() ?? 0 <= limit)
      #expect(zip(counts, lengths).allSatisfy { $0 == 0 || $1 > 0 })
      var places = 0
      for length in lengths where length > 0 { places += 1 << (limit - length) }
      #expect(places == 1 << limit)
      // Complete and all different when cut to the shorter length: no code begins another.
      var seen = Set<Int>()
      for (symbol, length) in lengths.enumerated() where length > 0 {
        for rest in 0..<(1 << (limit - length)) {
          let isNew = seen.insert(Int(code.codes[symbol]) | rest << length).inserted
          #expect(isNew)
        }
      }
      #expect(seen.count == 1 << limit)
    }
  }

  @Test("Fibonacci counts, the deepest tree there is, are held to the limit")
  func deepestTree() {
    var counts: [UInt32] = [1, 1]
    while counts.count < 40 { counts.append(counts[counts.count - 1] + counts[counts.count - 2]) }
    for limit in [6, 7, 12, 15] {
      var code = HuffmanCode()
      code.build(counts: counts, limit: limit)
      #expect(code.lengths.map(Int.init).max() == limit)
      var places = 0
      for length in code.lengths { places += 1 << (limit - Int(length)) }
      #expect(places == 1 << limit)
    }
  }

  @Test("A single symbol gets a partner", arguments: [0, 1, 5])
  func singleSymbol(symbol: Int) {
    var counts = [UInt32](repeating: 0, count: 19)
    counts[symbol] = 7
    var code = HuffmanCode()
    code.build(counts: counts, limit: 7)
    #expect(code.lengths[symbol] == 1)
    #expect(code.lengths.filter { $0 > 0 } == [1, 1])
  }
}
