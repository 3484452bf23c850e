import CDeflate
import CPlatform

/// Writes the lines of an RGB picture, predicted by Paeth, as literals and runs of zeros. Bytes near
/// 0 have codes of at most eight bits, all others codes of one length, so that vectors find 32 codes
/// at once. Blocks are about a megabyte, each with a code counted on a sample of its lines.
struct LiteralDeflate {
  private let isWide: Bool
  private var counts = [UInt32](repeating: 0, count: 4 * 256)
  private var code = HuffmanCode()
  private var header = DeflateBlockHeader()

  private static let samplingStep = 8
  /// How many bytes may have a code of their own, as many on either side of zero. In smooth pictures
  /// few are frequent, and codes of eight bits for rare ones would lengthen theirs.
  private static let nears = [8, 16, 32]
  private static let longestOfNear = 8
  /// Lengths of all other codes. What near bytes, the end of the block and the run take with eight
  /// bits each leaves space for any of them.
  private static let lengthsOfFar = 9...14

  init(isWide: Bool = GrayFinder.hasWide) { self.isWide = isWide }

  /// Writes the stream to `target`, which must hold `FastDeflate.largestBytes`, and returns its
  /// length.
  mutating func compress(_ lines: inout Scanlines, to target: UnsafeMutableRawPointer) -> Int {
    lines.deflate(blockRows: FastDeflate.linesPerBlock(lines.lineBytes), to: target) {
      lines, rows, _, isLast, sink, checksum in
      write(&lines, rows, isLast: isLast, to: &sink, checksum: &checksum)
    }
  }

  /// Writes a block; returns false as soon as storing it would be smaller.
  private mutating func write(
    _ lines: inout Scanlines, _ rows: Range<Int>, isLast: Bool, to sink: inout BitSink,
    checksum: inout UInt32
  ) -> Bool {
    let start = sink.position
    let largest = Scanlines.storedBytes(rows.count * lines.lineBytes)
    count(&lines, rows)
    let (lengths, near) = lengths()
    code.build(lengths: lengths)
    var table = table(near: near)
    header.write(lengths: code.lengths, isLast: isLast, to: &sink)
    for y in rows {
      let line = lines.line(y, filter: .paeth)
      checksum = libdeflate_adler32(checksum, line, lines.lineBytes)
      sink.withState { state in
        scanmill_literals_write(isWide, line, Int64(lines.lineBytes), &table, &state)
      }
      if sink.position - start > largest { return false }
    }
    code.put(DeflateRuns.endOfBlock, to: &sink)
    return sink.position - start <= largest
  }

  private mutating func count(_ lines: inout Scanlines, _ rows: Range<Int>) {
    for index in counts.indices { counts[index] = 0 }
    let first = min(rows.lowerBound + Self.samplingStep / 2, rows.upperBound - 1)
    for y in stride(from: first, to: rows.upperBound, by: Self.samplingStep) {
      scanmill_literals_count(lines.line(y, filter: .paeth), Int64(lines.lineBytes), &counts)
    }
  }

  /// The lengths of a good code of this kind for what was counted, each symbol taken once more, and
  /// how many bytes on either side of zero have codes of their own.
  private func lengths() -> (lengths: [UInt8], near: Int) {
    var weights = [Int](repeating: 1, count: DeflateRuns.symbolCount)
    for literal in 0..<256 {
      for table in 0..<4 { weights[literal] += Int(counts[256 * table + literal]) }
    }
    var best: (bits: Int, near: Int, lengths: [UInt8])?
    for near in Self.nears {
      let far = near..<256 - near
      let farWeight = weights[far].reduce(0, +)
      // Symbols with a code of their own: near bytes, the end of a block, and the longest run.
      let symbols =
        Array(0..<near) + Array(256 - near..<256) + [
          DeflateRuns.endOfBlock, DeflateRuns.symbolCount - 1,
        ]
      // Space is counted in codes of `longestOfNear` bits, of which the others fill whole ones.
      for length in Self.lengthsOfFar
      where length <= Self.longestOfNear + far.count.trailingZeroBitCount {
        let taken = far.count >> (length - Self.longestOfNear) + symbols.count
        let shortened = Self.shortened(
          symbols.map { weights[$0] }, space: 1 << Self.longestOfNear - taken)
        let bits = zip(symbols, shortened).reduce(farWeight * length) { $0 + weights[$1.0] * $1.1 }
        if let best, best.bits <= bits { continue }
        var lengths = [UInt8](repeating: 0, count: DeflateRuns.symbolCount)
        for literal in far { lengths[literal] = UInt8(length) }
        for (symbol, length) in zip(symbols, shortened) { lengths[symbol] = UInt8(length) }
        best = (bits, near, lengths)
      }
    }
    return (best?.lengths ?? [], best?.near ?? 0)
  }

  /// Shortens codes of `longestOfNear` bits, always the one that gains most for the space that it
  /// takes, until the space is used up. That is always possible: some code is among the shortest
  /// pieces of space, of which what is left is a multiple.
  private static func shortened(_ weights: [Int], space: Int) -> [Int] {
    var lengths = [Int](repeating: longestOfNear, count: weights.count)
    var space = space
    while space > 0 {
      var chosen = -1
      var most = -1
      for index in lengths.indices where lengths[index] > 1 {
        let gain = weights[index] << lengths[index]
        if gain > most, 1 << (longestOfNear - lengths[index]) <= space {
          chosen = index
          most = gain
        }
      }
      guard chosen >= 0 else { break }
      space -= 1 << (longestOfNear - lengths[chosen])
      lengths[chosen] -= 1
    }
    return lengths
  }

  /// The code as the loops look it up.
  private func table(near: Int) -> scanmill_literal_code {
    var table = scanmill_literal_code()
    let bytes = Array(256 - near..<256) + Array(0..<near)
    withUnsafeMutableBytes(of: &table.bits) { bits in
      for (place, byte) in bytes.enumerated() { bits[place] = UInt8(code.codes[byte]) }
    }
    withUnsafeMutableBytes(of: &table.lengths) { lengths in
      for (place, byte) in bytes.enumerated() { lengths[place] = code.lengths[byte] }
    }
    table.near = UInt32(near)
    table.longest = UInt32(code.lengths[near])
    let run = code.entry(length: DeflateRuns.lengths.upperBound)
    // One bit 0 more: the code of the distance 1.
    table.run_bits = run >> 8
    table.run_length = run & 255 + 1
    return table
  }
}
