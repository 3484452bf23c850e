import CPlatform

/// How the compression `fast` writes an RGB picture.
enum FastStrategy: Hashable {
  /// Paeth prediction and literals.
  case literals
  /// Matches of gray pixels; even rows are predicted by this filter.
  case gray(ScanlineFilter)
}

/// Chooses how an RGB picture is written, by estimates of size and time from a few groups of its
/// rows. The choice depends on the pixels alone.
struct EncodingStrategy {
  /// Estimated size and time of a strategy, per 1024 pixels.
  struct Estimate: Equatable {
    var strategy: FastStrategy
    var bits: Int
    /// Nanoseconds in addition to the time of literals.
    var time: Int

    /// Time plus the time that may be spent to save the bits.
    var cost: Int { time + bits * EncodingStrategy.timeOf1000Bits / 1000 }
  }

  /// Nanoseconds that may be spent to save 1000 bits: 20 ms per megabyte. Every megabyte also takes
  /// 1 to 2 ms for checksums, digest and kernel, and is stored and read for years.
  static let timeOf1000Bits = 2500
  // Measured on two videos and two rendered scenes, and confirmed on six other videos; one core,
  // Zen 4.
  /// Nanoseconds per 1024 pixels, and per 1024 tokens of literals and matches.
  private static let grayTime = 400
  private static let tokenTime = 2300
  /// Nanoseconds per 1024 pixels, for Paeth in even rows.
  private static let paethTime = 150

  /// Percentage of the gray size with Up below which `compact` uses Sub. Up leaves more repeated
  /// colors, which the gray strategy does not find. On ten videos Sub was better up to 95.8 and Up
  /// from 95.9 on.
  private static let subAgainstUp = 96

  /// Rows per group, and those at its start that only fill the window.
  private static let groupRows = 8
  private static let unseenRows = 2
  /// One of this many rows belongs to a group; the least number of groups is `leastGroups`.
  private static let fastSampling = 48
  private static let compactSampling = 24
  private static let leastGroups = 2
  /// Shorter lines are written as literals without estimates.
  private static let leastLineBytes = 256

  private let isWide: Bool
  private var lineMemory: [UInt8] = []
  private var distances: [UInt16] = []
  private var steps: [UInt8] = []
  private var finder = GrayFinder()
  private var grayCode = GrayCode()
  private var lineCode = LineCode()

  init(isWide: Bool = GrayFinder.hasWide) {
    self.isWide = isWide
  }

  /// Estimates of all strategies of `fast`; empty for a picture that is too small.
  static func estimates(of lines: inout Scanlines, isWide: Bool) -> [Estimate] {
    var choice = EncodingStrategy(isWide: isWide)
    return choice.isLargeEnough(lines) ? choice.fastEstimates(of: &lines) : []
  }

  mutating func fastStrategy(of lines: inout Scanlines) -> FastStrategy {
    guard isLargeEnough(lines) else { return .literals }
    return fastEstimates(of: &lines).min { $0.cost < $1.cost }?.strategy ?? .literals
  }

  /// The filter of even rows for matches of pixels of all colors; `nil` for drawings, for which a
  /// more thorough search is better.
  mutating func compactFilter(of lines: inout Scanlines) -> ScanlineFilter? {
    if PixelStatistics(evenRowsOf: &lines).isFlat { return nil }
    guard isLargeEnough(lines) else { return .up }
    let groups = groups(of: lines, sampling: Self.compactSampling)
    let sub = gray(.sub, of: &lines, groups).bits
    let up = gray(.up, of: &lines, groups).bits
    return sub * 100 < up * Self.subAgainstUp ? .sub : .up
  }

  private func isLargeEnough(_ lines: Scanlines) -> Bool {
    lines.lineBytes >= Self.leastLineBytes && lines.height >= Self.leastGroups * Self.groupRows
  }

  /// Estimates for a picture that is large enough.
  mutating func fastEstimates(of lines: inout Scanlines) -> [Estimate] {
    let groups = groups(of: lines, sampling: Self.fastSampling)
    return [
      literals(of: &lines, groups), gray(.paeth, of: &lines, groups),
      gray(.sub, of: &lines, groups),
    ]
  }

  /// Rows to sample, spread over the picture.
  private func groups(of lines: Scanlines, sampling: Int) -> [Range<Int>] {
    let count = max(Self.leastGroups, lines.height / (sampling * Self.groupRows))
    let span = lines.height - Self.groupRows
    return (0..<count).map { group in
      let first = (2 * group + 1) * span / (2 * count) & ~1
      return first..<first + Self.groupRows
    }
  }

  private mutating func literals(
    of lines: inout Scanlines, _ groups: [Range<Int>]
  ) -> Estimate {
    var rows = 0
    lineCode.count { counts in
      for group in groups {
        for y in group.dropFirst(Self.unseenRows) {
          LineTokens.count(
            lines.line(y, filter: .paeth), count: lines.lineBytes, period: 1, counts: counts)
          rows += 1
        }
      }
    }
    lineCode.make(smoothed: true, period: 1, withPairs: false)
    return Estimate(
      strategy: .literals, bits: lineCode.countedBits * 1024 / (rows * lines.rowBytes / 3), time: 0)
  }

  private mutating func gray(
    _ filter: ScanlineFilter, of lines: inout Scanlines, _ groups: [Range<Int>]
  ) -> Estimate {
    let width = lines.rowBytes / 3
    let lineBytes = lines.lineBytes
    if lineMemory.count < lineBytes + 16 {
      lineMemory = [UInt8](repeating: 0, count: lineBytes + 16)
    }
    if steps.count < width + GrayFinder.slack {
      steps = [UInt8](repeating: 0, count: width + GrayFinder.slack)
      distances = [UInt16](repeating: 0, count: width + GrayFinder.slack)
    }
    grayCode.beginCounting()
    finder.begin(width: width)
    var rows = 0
    var index = 0
    for group in groups {
      // Groups must not match pixels of other groups.
      let floor = index * lineBytes
      for (place, y) in group.enumerated() {
        lineMemory.withUnsafeMutableBufferPointer { memory in
          distances.withUnsafeMutableBufferPointer { distances in
            steps.withUnsafeMutableBufferPointer { steps in
              guard let line = memory.baseAddress, let distances = distances.baseAddress,
                let steps = steps.baseAddress
              else { return }
              lines.write(y, filter: y & 1 == 0 ? filter : .up, to: line)
              finder.find(
                line + 1, at: index * lineBytes + 1, floor: floor, isWide: isWide,
                distances: distances, steps: steps)
              guard place >= Self.unseenRows else { return }
              grayCode.count(line, width: width, distances: distances, steps: steps)
              rows += 1
            }
          }
        }
        index += 1
      }
    }
    grayCode.makeCodes()
    let counted = grayCode.counted
    let pixels = rows * width
    return Estimate(
      strategy: .gray(filter), bits: counted.bits * 1024 / pixels,
      time: Self.grayTime + Self.tokenTime * counted.tokens / pixels
        + (filter == .paeth ? Self.paethTime : 0))
  }
}

/// Measures a few rows of an RGB picture to decide how to write it.
struct PixelStatistics {
  /// Number of sampled pixels.
  private var pixels = 0
  /// Estimated bits of even rows as Huffman-coded literals.
  private var subBits = 0
  private var upBits = 0

  /// Number of sampled rows.
  private static let sampleRows = 8

  /// Whether most pixels are predicted exactly, as in drawings.
  var isFlat: Bool { min(subBits, upBits) < 4 * pixels }

  init(evenRowsOf lines: inout Scanlines) {
    var counts = [UInt32](repeating: 0, count: 256)
    var code = HuffmanCode()
    for filter in [ScanlineFilter.sub, .up] {
      for symbol in counts.indices { counts[symbol] = 0 }
      pixels = 0
      for sample in 0..<min(Self.sampleRows, (lines.height + 1) / 2) {
        let y = Self.row(sample, of: lines) & ~1
        let residual = lines.line(y, filter: filter) + 1
        var offset = 0
        while offset < lines.rowBytes {
          counts[Int(residual.load(fromByteOffset: offset, as: UInt8.self))] &+= 1
          offset &+= 1
        }
        pixels += lines.rowBytes / 3
      }
      code.build(counts: counts, limit: LineTokens.longestCode)
      if filter == .sub {
        subBits = code.bitCount(of: counts)
      } else {
        upBits = code.bitCount(of: counts)
      }
    }
  }

  /// Index of a sampled row, spread over the picture.
  private static func row(_ sample: Int, of lines: Scanlines) -> Int {
    (2 * sample + 1) * lines.height / (2 * sampleRows)
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
