import CDeflate

/// Writes the lines of an RGB picture as a zlib stream in which pixels repeat earlier ones.
///
/// The usual conversion of video gives two by two pixels the same chroma. After the row above is
/// subtracted, each pixel of an odd row then is one number three times: literals alone would pay
/// three times for it, while a repetition of two or three pixels seen shortly before costs little more than
/// one of them.
///
/// Blocks are about a megabyte, with codes counted on all of their tokens, or stored when that does
/// not pay. Where even rows are literals, each row is a block of its own: the two codes differ so much that
/// fifty bytes of header in each row are a twelfth less than one code for both. The headers are made
/// once.
///
/// The output depends on the pixels alone, never on what was written before.
struct PixelDeflate {
  /// How the even rows are written, from 0; odd rows are always Up and repetitions.
  enum EvenRows {
    /// Paeth and literals, in blocks of their own.
    case literals
    /// Repetitions like the odd rows'; all of them searched for more thoroughly if asked for.
    case repetitions(ScanlineFilter, thorough: Bool)
  }

  private var window: [UInt8] = []
  private var tokens: [UInt32] = []
  private var tokenEnds: [Int] = []
  private var table = [Int32](repeating: 0, count: PixelTokens.tableSize)
  private var literalCode = LineCode()
  private var pixelCode = PixelCode()
  private var literalHeader = HeaderBits()
  private var pixelHeader = HeaderBits()

  private static let blockBytes = 1 << 20
  private static let samplingStep = 8
  /// Above this only every eighth row of literals is counted.
  private static let leastBytesForSampling = 128 << 10

  static func rowsPerBlock(_ lineBytes: Int) -> Int { max(2, blockBytes / lineBytes & ~1) }

  /// An upper bound of what `compress` writes and of how far beyond it may touch memory: everything
  /// stored, and the line that made a block larger than that, with a pixel's literals of 36 bits.
  static func largestBytes(lineBytes: Int, height: Int) -> Int {
    let total = lineBytes * height
    let blocks = height / rowsPerBlock(lineBytes) + 2
    return StoredBlocks.storedBytes(total) + 6 * blocks + 2 * lineBytes
      + 2 * DeflateBlockHeader.largestBytes + 64
  }

  /// Writes the stream to `target`, which has room for `largestBytes`, and returns its length.
  mutating func compress(
    _ lines: inout Scanlines, evenRows: EvenRows, to target: UnsafeMutableRawPointer
  ) -> Int {
    var sink = BitSink(at: target)
    // Deflate with a window of 32 KiB, fastest: 0x7801 is a multiple of 31, as it must be.
    sink.put(0x78, count: 8)
    sink.put(0x01, count: 8)
    var checksum: UInt32 = 1
    let lineBytes = lines.lineBytes
    let step = Self.rowsPerBlock(lineBytes)
    let blockRows = min(step, lines.height)
    let windowBytes = PixelTokens.window + blockRows * lineBytes + PixelTokens.slack
    if window.count < windowBytes { window = [UInt8](repeating: 0, count: windowBytes) }
    let tokenCount = blockRows * (lines.rowBytes / 3)
    if tokens.count < tokenCount { tokens = [UInt32](repeating: 0, count: tokenCount) }
    for i in table.indices { table[i] = -1 }

    var floor = 0
    var first = 0
    while first < lines.height {
      let rows = first..<min(first + step, lines.height)
      let isLast = rows.upperBound == lines.height
      let before = (sink, checksum)
      let isSmaller = writeCoded(
        &lines, rows: rows, evenRows: evenRows, floor: floor, isLast: isLast, to: &sink,
        checksum: &checksum)
      if !isSmaller {
        (sink, checksum) = before
        StoredBlocks.write(&lines, rows: rows, isLast: isLast, to: &sink, checksum: &checksum)
        floor = rows.upperBound * lineBytes
      }
      first = rows.upperBound
    }
    sink.alignToByte()
    for shift in [24, 16, 8, 0] { sink.put(Int(checksum >> UInt32(shift)) & 255, count: 8) }
    return sink.position - target
  }

  /// Writes a block with codes of its own; false as soon as storing it would be smaller.
  private mutating func writeCoded(
    _ lines: inout Scanlines, rows: Range<Int>, evenRows: EvenRows, floor: Int, isLast: Bool,
    to sink: inout BitSink, checksum: inout UInt32
  ) -> Bool {
    fill(&lines, rows: rows, evenRows: evenRows, checksum: &checksum)
    findTokens(lines, rows: rows, evenRows: evenRows, floor: floor)
    let lineBytes = lines.lineBytes
    let start = sink.position
    let largest = StoredBlocks.storedBytes(rows.count * lineBytes)
    return window.withUnsafeBytes { window in
      tokens.withUnsafeBufferPointer { tokens in
        guard let bytes = window.baseAddress, let tokens = tokens.baseAddress else { return false }
        let block = bytes + PixelTokens.window
        switch evenRows {
        case .repetitions(let filter, _):
          pixelHeader.write(isLast: isLast, to: &sink)
          var begin = 0
          for (index, y) in rows.enumerated() {
            pixelCode.write(
              filter: y & 1 == 0 ? filter : .up, tokens + begin, count: tokenEnds[index] - begin,
              to: &sink)
            begin = tokenEnds[index]
            if sink.position - start > largest { return false }
          }
          pixelCode.endBlock(&sink)
        case .literals:
          let isSmaller: Bool? = literalCode.write { table in
            var begin = 0
            for (index, y) in rows.enumerated() {
              let isLastBlock = isLast && y + 1 == rows.upperBound
              if y & 1 == 0 {
                literalHeader.write(isLast: isLastBlock, to: &sink)
                LineTokens.write(
                  block + index * lineBytes, count: lineBytes, period: 1, table: table,
                  usesPairs: true, to: &sink)
                literalCode.endBlock(&sink)
              } else {
                pixelHeader.write(isLast: isLastBlock, to: &sink)
                pixelCode.write(
                  filter: .up, tokens + begin, count: tokenEnds[index] - begin, to: &sink)
                pixelCode.endBlock(&sink)
              }
              begin = tokenEnds[index]
              if sink.position - start > largest { return false }
            }
            return true
          }
          guard isSmaller == true else { return false }
        }
        return sink.position - start <= largest
      }
    }
  }

  /// Puts the lines of a block behind the end of the one before.
  private mutating func fill(
    _ lines: inout Scanlines, rows: Range<Int>, evenRows: EvenRows, checksum: inout UInt32
  ) {
    let lineBytes = lines.lineBytes
    window.withUnsafeMutableBufferPointer { window in
      guard let start = window.baseAddress else { return }
      if rows.lowerBound > 0 {
        start.update(
          from: start + Self.rowsPerBlock(lineBytes) * lineBytes, count: PixelTokens.window)
      }
      let block = start + PixelTokens.window
      let evenFilter: ScanlineFilter =
        switch evenRows {
        case .literals: .paeth
        case .repetitions(let filter, _): filter
        }
      for (index, y) in rows.enumerated() {
        lines.write(y, filter: y & 1 == 0 ? evenFilter : .up, to: block + index * lineBytes)
      }
      let count = rows.count * lineBytes
      // What the search may look at beyond the end shall not depend on what was there before.
      (block + count).update(repeating: 0, count: PixelTokens.slack)
      checksum = libdeflate_adler32(checksum, block, count)
    }
  }

  /// Finds the repetitions of a block, none that begins before `floor`, and makes its codes.
  private mutating func findTokens(
    _ lines: Scanlines, rows: Range<Int>, evenRows: EvenRows, floor: Int
  ) {
    let lineBytes = lines.lineBytes
    let first = rows.lowerBound * lineBytes
    tokenEnds.removeAll(keepingCapacity: true)
    window.withUnsafeBytes { window in
      guard let start = window.baseAddress else { return }
      // So that places count from the begin of the stream.
      let bytes = start + PixelTokens.window - first
      let lookFrom = max(floor, first - PixelTokens.window)
      var filters: [(ScanlineFilter, Int)] = [(.up, rows.count / 2)]
      if case .repetitions(let filter, _) = evenRows {
        filters.append((filter, (rows.count + 1) / 2))
      } else {
        let step = rows.count * lineBytes < Self.leastBytesForSampling ? 1 : Self.samplingStep
        literalCode.count { counts in
          for y in stride(from: rows.lowerBound, to: rows.upperBound, by: 2 * step) {
            LineTokens.count(bytes + y * lineBytes, count: lineBytes, period: 1, counts: counts)
          }
        }
        literalCode.make(smoothed: step > 1, period: 1, withPairs: true)
        literalHeader.make(lengths: literalCode.lengths, distances: [1, 1])
      }
      pixelCode.count { counts in
        tokens.withUnsafeMutableBufferPointer { tokens in
          table.withUnsafeMutableBufferPointer { table in
            guard let tokens = tokens.baseAddress, let table = table.baseAddress else { return }
            var end = tokens
            for y in rows {
              let pixels = (y * lineBytes + 1)..<((y + 1) * lineBytes)
              switch evenRows {
              case .literals where y & 1 == 0: break
              case .repetitions(_, thorough: true):
                end = PixelTokens.find(
                  in: bytes, range: pixels, floor: lookFrom, thorough: true, table: table,
                  tokens: end, counts: counts)
              default:
                end = PixelTokens.find(
                  in: bytes, range: pixels, floor: lookFrom, thorough: false, table: table,
                  tokens: end, counts: counts)
              }
              tokenEnds.append(end - tokens)
            }
          }
        }
      }
      pixelCode.make(filters: filters)
      pixelHeader.make(lengths: pixelCode.lengths, distances: pixelCode.distanceLengths)
    }
  }
}
