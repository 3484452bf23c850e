import CDeflate

/// Writes the lines of an RGB picture as a zlib stream in which pixels match earlier ones.
///
/// The usual conversion of video gives two by two pixels the same chroma. After the row above is
/// subtracted, the three bytes of each pixel of an odd row are therefore equal. As literals they
/// take three codes, while a match of two or three recent pixels takes little more than one.
///
/// Blocks are about a megabyte, with codes counted on all of their tokens, or stored if that is
/// smaller. The output depends on the pixels alone, never on earlier pictures.
struct PixelDeflate {
  private var window: [UInt8] = []
  private var tokens: [UInt32] = []
  private var tokenEnds: [Int] = []
  private var table = [Int32](repeating: 0, count: PixelTokens.tableSize)
  private var pixelCode = PixelCode()
  private var pixelHeader = HeaderBits()

  private static let blockBytes = 1 << 20

  static func rowsPerBlock(_ lineBytes: Int) -> Int { max(2, blockBytes / lineBytes & ~1) }

  /// Upper bound of the memory that `compress` writes to: all blocks stored, plus the line that
  /// made a block larger than that, with 36 bits of literals per pixel.
  static func largestBytes(lineBytes: Int, height: Int) -> Int {
    let total = lineBytes * height
    let blocks = height / rowsPerBlock(lineBytes) + 2
    return StoredBlocks.storedBytes(total) + 6 * blocks + 2 * lineBytes
      + 2 * DeflateBlockHeader.largestBytes + 64
  }

  /// Writes the stream to `target`, which must hold `PixelDeflate.largestBytes`, and returns its
  /// length. Even rows are predicted by `evenFilter`, odd ones by Up.
  mutating func compress(
    _ lines: inout Scanlines, evenFilter: ScanlineFilter, to target: UnsafeMutableRawPointer
  ) -> Int {
    var sink = BitSink(at: target)
    // zlib header: window of 32 KiB, fastest level. 0x7801 is a multiple of 31, as required.
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
        &lines, rows: rows, evenFilter: evenFilter, floor: floor, isLast: isLast, to: &sink,
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

  /// Writes a block with its own codes; returns false as soon as storing it would be smaller.
  private mutating func writeCoded(
    _ lines: inout Scanlines, rows: Range<Int>, evenFilter: ScanlineFilter, floor: Int,
    isLast: Bool, to sink: inout BitSink, checksum: inout UInt32
  ) -> Bool {
    fill(&lines, rows: rows, evenFilter: evenFilter, checksum: &checksum)
    findTokens(lines, rows: rows, evenFilter: evenFilter, floor: floor)
    let start = sink.position
    let largest = StoredBlocks.storedBytes(rows.count * lines.lineBytes)
    return tokens.withUnsafeBufferPointer { tokens in
      guard let tokens = tokens.baseAddress else { return false }
      pixelHeader.write(isLast: isLast, to: &sink)
      var begin = 0
      for (index, y) in rows.enumerated() {
        pixelCode.write(
          filter: y & 1 == 0 ? evenFilter : .up, tokens + begin, count: tokenEnds[index] - begin,
          to: &sink)
        begin = tokenEnds[index]
        if sink.position - start > largest { return false }
      }
      pixelCode.endBlock(&sink)
      return sink.position - start <= largest
    }
  }

  /// Appends the lines of a block to those of the previous block.
  private mutating func fill(
    _ lines: inout Scanlines, rows: Range<Int>, evenFilter: ScanlineFilter, checksum: inout UInt32
  ) {
    let lineBytes = lines.lineBytes
    window.withUnsafeMutableBufferPointer { window in
      guard let start = window.baseAddress else { return }
      if rows.lowerBound > 0 {
        start.update(
          from: start + Self.rowsPerBlock(lineBytes) * lineBytes, count: PixelTokens.window)
      }
      let block = start + PixelTokens.window
      for (index, y) in rows.enumerated() {
        lines.write(y, filter: y & 1 == 0 ? evenFilter : .up, to: block + index * lineBytes)
      }
      let count = rows.count * lineBytes
      // Cleared, so that what the search reads beyond the end does not depend on earlier content.
      (block + count).update(repeating: 0, count: PixelTokens.slack)
      checksum = libdeflate_adler32(checksum, block, count)
    }
  }

  /// Finds the matches of a block, none that begins before `floor`, and builds its codes.
  private mutating func findTokens(
    _ lines: Scanlines, rows: Range<Int>, evenFilter: ScanlineFilter, floor: Int
  ) {
    let lineBytes = lines.lineBytes
    let first = rows.lowerBound * lineBytes
    tokenEnds.removeAll(keepingCapacity: true)
    window.withUnsafeBytes { window in
      guard let start = window.baseAddress else { return }
      // Makes positions count from the start of the stream.
      let bytes = start + PixelTokens.window - first
      let searchStart = max(floor, first - PixelTokens.window)
      pixelCode.count { counts in
        tokens.withUnsafeMutableBufferPointer { tokens in
          table.withUnsafeMutableBufferPointer { table in
            guard let tokens = tokens.baseAddress, let table = table.baseAddress else { return }
            var end = tokens
            for y in rows {
              let pixels = (y * lineBytes + 1)..<((y + 1) * lineBytes)
              end = PixelTokens.find(
                in: bytes, range: pixels, floor: searchStart, table: table, tokens: end,
                counts: counts)
              tokenEnds.append(end - tokens)
            }
          }
        }
      }
      pixelCode.make(filters: [(evenFilter, (rows.count + 1) / 2), (.up, rows.count / 2)])
      pixelHeader.make(lengths: pixelCode.lengths, distances: pixelCode.distanceLengths)
    }
  }
}
