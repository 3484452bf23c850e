import CDeflate
import CPlatform

/// Writes the lines of an RGB picture as a zlib stream in which gray pixels match earlier ones.
///
/// After prediction most pixels of a video are gray (three equal bytes): in odd rows all of them
/// after the row above is subtracted, except where a channel is clipped; in even rows those whose
/// chroma is as predicted. Only gray pixels are looked up, directly by value instead of a hash. No
/// bytes have to be compared, and a match does not determine where the next lookup is, so that a
/// whole row is looked up without unpredictable branches. `PixelDeflate` also finds repeated
/// colors, a few percent more.
///
/// Blocks are about a megabyte, with codes counted on a sample of their rows.
struct GrayDeflate {
  /// Whether to use wide vectors. The output is the same.
  let isWide: Bool

  private var lineMemory: [UInt8] = []
  private var distances: [UInt16] = []
  private var steps: [UInt8] = []
  private var finder = GrayFinder()
  private var code = PixelCode(
    countsSize: Int(SCANMILL_GRAY_COUNTS), lengthsStart: Int(SCANMILL_GRAY_STEP_COUNTS),
    lengthStep: 1, distancesStart: Int(SCANMILL_GRAY_DISTANCE_COUNTS))
  private var header = DeflateBlockHeader()
  /// Entries of `HuffmanCode` for each literal, then for each number of matched pixels.
  private var entries = [UInt32](repeating: 0, count: Int(SCANMILL_GRAY_CODES))
  /// For each distance its code with the extra bits, and their number in the low six bits.
  private var distanceEntries = [UInt32](repeating: 0, count: Int(SCANMILL_GRAY_DISTANCES))

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
    let lineBytes = lines.lineBytes
    let step = Self.rowsPerBlock(lineBytes)
    reserve(rows: min(step, lines.height), lineBytes: lineBytes)
    finder.begin(width: lines.rowBytes / 3)
    return lines.deflate(blockRows: step, to: target) {
      lines, rows, floor, isLast, sink, checksum in
      let sampling = max(1, min(Self.largestSamplingStep, rows.count / (2 * Self.sampleCount)))
      withMemory { memory, distances, steps, finder, code, isWide in
        for (index, y) in rows.enumerated() {
          lines.write(y, filter: y & 1 == 0 ? evenFilter : .up, to: memory + index * lineBytes)
        }
        checksum = libdeflate_adler32(checksum, memory, rows.count * lineBytes)
        let width = lines.rowBytes / 3
        code.count { counts in
          for (index, y) in rows.enumerated() {
            let line = memory + index * lineBytes + 1
            let (distances, steps) = (distances + index * width, steps + index * width)
            finder.find(
              line, at: y * lineBytes + 1, floor: floor, isWide: isWide, distances: distances,
              steps: steps)
            // Two rows of each sample: an even and an odd one.
            if index / 2 % sampling == 0 {
              scanmill_gray_count(line, distances, steps, Int64(width), counts)
            }
          }
        }
        for (index, y) in rows.enumerated() where index / 2 % sampling == 0 {
          code.add(y & 1 == 0 ? evenFilter : .up, rows: 1)
        }
      }
      // Single pixels may be written as literals, too.
      code.make(least: 1)
      makeTables()
      return write(rows: rows, lineBytes: lineBytes, isLast: isLast, to: &sink)
    }
  }

  /// Encoded size in bits, and number of tokens and pixels, of rows of `groups` but the first
  /// `unseen` of each, which only fill the window.
  mutating func estimate(
    _ filter: ScanlineFilter, of lines: inout Scanlines, _ groups: [Range<Int>], unseen: Int
  ) -> (bits: Int, tokens: Int, pixels: Int) {
    let lineBytes = lines.lineBytes
    let width = lines.rowBytes / 3
    reserve(rows: 1, lineBytes: lineBytes)
    finder.begin(width: width)
    var rows = 0
    withMemory { line, distances, steps, finder, code, isWide in
      var counted: [ScanlineFilter] = []
      code.count { counts in
        var index = 0
        for group in groups {
          // Groups must not match pixels of other groups.
          let floor = index * lineBytes
          for (place, y) in group.enumerated() {
            let filter = y & 1 == 0 ? filter : .up
            lines.write(y, filter: filter, to: line)
            finder.find(
              line + 1, at: index * lineBytes + 1, floor: floor, isWide: isWide,
              distances: distances, steps: steps)
            index += 1
            guard place >= unseen else { continue }
            scanmill_gray_count(line + 1, distances, steps, Int64(width), counts)
            counted.append(filter)
          }
        }
      }
      for filter in counted { code.add(filter, rows: 1) }
      rows = counted.count
    }
    code.make(least: 1)
    let counted = code.counted
    return (counted.bits, counted.tokens, rows * width)
  }

  private mutating func reserve(rows: Int, lineBytes: Int) {
    let bytes = rows * lineBytes + 16
    if lineMemory.count < bytes { lineMemory = [UInt8](repeating: 0, count: bytes) }
    let pixels = rows * (lineBytes - 1) / 3 + GrayFinder.slack
    if steps.count < pixels {
      steps = [UInt8](repeating: 0, count: pixels)
      distances = [UInt16](repeating: 0, count: pixels)
    }
  }

  private mutating func withMemory(
    _ body: (
      _ lines: UnsafeMutablePointer<UInt8>, _ distances: UnsafeMutablePointer<UInt16>,
      _ steps: UnsafeMutablePointer<UInt8>, _ finder: inout GrayFinder, _ code: inout PixelCode,
      _ isWide: Bool
    ) -> Void
  ) {
    lineMemory.withUnsafeMutableBufferPointer { memory in
      distances.withUnsafeMutableBufferPointer { distances in
        steps.withUnsafeMutableBufferPointer { steps in
          guard let memory = memory.baseAddress, let distances = distances.baseAddress,
            let steps = steps.baseAddress
          else { return }
          body(memory, distances, steps, &finder, &code, isWide)
        }
      }
    }
  }

  private mutating func makeTables() {
    for literal in 0..<256 { entries[literal] = code.literals.entry(literal) }
    for pixels in 1...PixelCode.longestMatch {
      entries[256 + pixels] = code.literals.entry(length: 3 * pixels)
    }
    distanceEntries.withUnsafeMutableBufferPointer { entries in
      // No match: more bits than any pixel.
      entries[0] = 46
      var distance = 1
      for symbol in 0..<30 {
        let entry = code.distances.entry(symbol)
        let (code, bits) = (entry >> 8, entry & 255)
        let extraBits = UInt32(PixelCode.extraBits(ofDistance: symbol))
        for extra in 0..<(UInt32(1) << extraBits) {
          entries[distance] = (code | extra << bits) << 6 | (bits + extraBits)
          distance += 1
        }
      }
    }
  }

  /// Writes the block; returns false as soon as storing it would be smaller.
  private mutating func write(
    rows: Range<Int>, lineBytes: Int, isLast: Bool, to sink: inout BitSink
  ) -> Bool {
    let width = (lineBytes - 1) / 3
    let start = sink.position
    let largest = Scanlines.storedBytes(rows.count * lineBytes)
    header.write(code, isLast: isLast, to: &sink)
    for index in 0..<rows.count {
      let line = index * lineBytes
      code.literals.put(Int(lineMemory[line]), to: &sink)
      sink.withState { state in
        lineMemory.withUnsafeBufferPointer { memory in
          distances.withUnsafeBufferPointer { distances in
            steps.withUnsafeBufferPointer { steps in
              guard let memory = memory.baseAddress, let distances = distances.baseAddress,
                let steps = steps.baseAddress
              else { return }
              scanmill_gray_emit(
                isWide, memory + line + 1, distances + index * width, steps + index * width,
                Int64(width), entries, distanceEntries, &state)
            }
          }
        }
      }
      if sink.position - start > largest { return false }
    }
    code.literals.put(DeflateRuns.endOfBlock, to: &sink)
    return sink.position - start <= largest
  }
}

extension BitSink {
  /// Calls C code that writes to this sink.
  mutating func withState(_ body: (inout scanmill_bit_sink) -> Void) {
    var state = scanmill_bit_sink(
      position: position.assumingMemoryBound(to: UInt8.self), bits: bits, count: bitCount)
    body(&state)
    self = BitSink(
      position: UnsafeMutableRawPointer(state.position), bits: state.bits, bitCount: state.count)
  }
}

/// Remembers the last position of each gray value in predicted rows.
struct GrayFinder {
  /// How many entries the per-pixel arrays have beyond the last row.
  static let slack = Int(SCANMILL_GRAY_SLACK)

  /// Whether this processor has the wide vectors of `isWide`.
  static let hasWide = scanmill_gray_has_wide()

  private var last = [UInt16](repeating: 0, count: Int(SCANMILL_GRAY_TABLE))
  private var swept: UInt32 = 0
  private var scratch: [UInt16] = []
  private var width = 0

  /// Clears all positions; rows of `width` pixels follow.
  mutating func begin(width: Int) {
    self.width = width
    let count = 4 * (width + Self.slack)
    if scratch.count < count { scratch = [UInt16](repeating: 0, count: count) }
    last.withUnsafeMutableBufferPointer { last in
      guard let start = last.baseAddress else { return }
      scanmill_gray_forget(start, &swept)
    }
  }

  /// Looks up the pixels of the row at `line`, which must be readable for two more bytes. `place`
  /// is its offset in the stream; rows come in order. Pixels before `floor` are not found.
  ///
  /// For each pixel, `distances` gets the distance in bytes to the last equal pixel (0 for none)
  /// and `steps` the number of pixels that match from there on. Both extend `slack` beyond the row.
  mutating func find(
    _ line: UnsafePointer<UInt8>, at place: Int, floor: Int, isWide: Bool,
    distances: UnsafeMutablePointer<UInt16>, steps: UnsafeMutablePointer<UInt8>
  ) {
    last.withUnsafeMutableBufferPointer { last in
      scratch.withUnsafeMutableBytes { scratch in
        guard let last = last.baseAddress, let scratch = scratch.baseAddress else { return }
        scanmill_gray_find(
          isWide, line, Int64(width), UInt32(truncatingIfNeeded: place),
          UInt32(truncatingIfNeeded: place - floor), last, &swept,
          scratch.assumingMemoryBound(to: UInt8.self), distances, steps)
      }
    }
  }
}
