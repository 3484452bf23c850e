import CDeflate

/// Writes the lines of an RGB picture as a zlib stream in which gray pixels match earlier ones.
///
/// After prediction most pixels of a video are gray (three equal bytes): in odd rows all of them
/// after the row above is subtracted, except where a channel is clipped; in even rows those whose
/// chroma is as predicted. Only gray pixels are looked up, directly by value instead of a hash. No
/// bytes have to be compared, and a match does not determine where the next lookup is, so that a
/// whole row is looked up without unpredictable branches. `PixelDeflate` also finds repeated
/// colors, a few percent more.
///
/// Blocks are about a megabyte, with codes counted on a sample of their rows, or stored if that is
/// smaller. The output depends on the pixels alone, never on earlier pictures or on the processor.
struct GrayDeflate {
  /// Whether to use wide vectors. The output is the same.
  let isWide: Bool

  private var lineMemory: [UInt8] = []
  private var distances: [UInt16] = []
  private var steps: [UInt8] = []
  private var finder = GrayFinder()
  private var code = GrayCode()
  private var header = HeaderBits()

  private static let blockBytes = 1 << 20
  /// Least number of pairs of rows that are counted in a block, if it has as many.
  private static let sampleCount = 6
  private static let largestSamplingStep = 16

  init(isWide: Bool = GrayFinder.hasWide) {
    self.isWide = isWide
  }

  static func rowsPerBlock(_ lineBytes: Int) -> Int { max(2, blockBytes / lineBytes & ~1) }

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
    reserve(rows: min(step, lines.height), lineBytes: lineBytes, width: lines.rowBytes / 3)
    finder.begin(width: lines.rowBytes / 3)
    var floor = 0
    var first = 0
    while first < lines.height {
      let rows = first..<min(first + step, lines.height)
      let isLast = rows.upperBound == lines.height
      let before = (sink, checksum)
      fill(&lines, rows: rows, evenFilter: evenFilter, checksum: &checksum)
      find(rows: rows, lineBytes: lineBytes, floor: floor)
      if !write(rows: rows, lineBytes: lineBytes, isLast: isLast, to: &sink) {
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

  private mutating func reserve(rows: Int, lineBytes: Int, width: Int) {
    let bytes = rows * lineBytes + 16
    if lineMemory.count < bytes { lineMemory = [UInt8](repeating: 0, count: bytes) }
    let pixels = rows * width + GrayFinder.slack
    if steps.count < pixels {
      steps = [UInt8](repeating: 0, count: pixels)
      distances = [UInt16](repeating: 0, count: pixels)
    }
  }

  private mutating func fill(
    _ lines: inout Scanlines, rows: Range<Int>, evenFilter: ScanlineFilter, checksum: inout UInt32
  ) {
    let lineBytes = lines.lineBytes
    lineMemory.withUnsafeMutableBufferPointer { memory in
      guard let start = memory.baseAddress else { return }
      for (index, y) in rows.enumerated() {
        lines.write(y, filter: y & 1 == 0 ? evenFilter : .up, to: start + index * lineBytes)
      }
      checksum = libdeflate_adler32(checksum, start, rows.count * lineBytes)
    }
  }

  /// Looks up all pixels of a block, ignoring those before `floor`, and builds its codes.
  private mutating func find(rows: Range<Int>, lineBytes: Int, floor: Int) {
    let width = (lineBytes - 1) / 3
    let sampling = max(1, min(Self.largestSamplingStep, rows.count / (2 * Self.sampleCount)))
    code.beginCounting()
    lineMemory.withUnsafeBufferPointer { memory in
      distances.withUnsafeMutableBufferPointer { distances in
        steps.withUnsafeMutableBufferPointer { steps in
          guard let memory = memory.baseAddress, let distances = distances.baseAddress,
            let steps = steps.baseAddress
          else { return }
          for (index, y) in rows.enumerated() {
            let line = memory + index * lineBytes
            finder.find(
              line + 1, at: y * lineBytes + 1, floor: floor, isWide: isWide,
              distances: distances + index * width, steps: steps + index * width)
            // Two rows of each sample: an even and an odd one.
            if index / 2 % sampling == 0 {
              code.count(
                line, width: width, distances: distances + index * width,
                steps: steps + index * width)
            }
          }
        }
      }
    }
    code.make()
    header.make(lengths: code.lengths, distances: code.distanceLengths)
  }

  /// Writes the block; returns false as soon as storing it would be smaller.
  private func write(
    rows: Range<Int>, lineBytes: Int, isLast: Bool, to sink: inout BitSink
  ) -> Bool {
    let width = (lineBytes - 1) / 3
    let start = sink.position
    let largest = StoredBlocks.storedBytes(rows.count * lineBytes)
    header.write(isLast: isLast, to: &sink)
    let isSmaller = lineMemory.withUnsafeBufferPointer { memory in
      distances.withUnsafeBufferPointer { distances in
        steps.withUnsafeBufferPointer { steps in
          guard let memory = memory.baseAddress, let distances = distances.baseAddress,
            let steps = steps.baseAddress
          else { return false }
          for index in 0..<rows.count {
            code.write(
              memory + index * lineBytes, width: width, distances: distances + index * width,
              steps: steps + index * width, isWide: isWide, to: &sink)
            if sink.position - start > largest { return false }
          }
          return true
        }
      }
    }
    guard isSmaller else { return false }
    code.endBlock(&sink)
    return sink.position - start <= largest
  }
}
