/// Writes RGB pictures whose pixels match earlier ones. How is chosen by estimates of size and time
/// from a few groups of their rows. The choice depends on the pixels alone.
struct EncodingStrategy {
  /// Estimated size and time per 1024 pixels of a strategy of `fast`.
  struct Estimate: Equatable {
    /// The filter of even rows for matches of gray pixels; `nil` for Paeth and literals.
    var evenFilter: ScanlineFilter?
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
  /// Number of rows by which drawings are told.
  private static let flatRows = 8

  private var grays: GrayDeflate
  private var colors: PixelDeflate?
  private var lineCode = LineCode()

  init(_ compression: PNGCompression, isWide: Bool = GrayFinder.hasWide) {
    grays = GrayDeflate(isWide: isWide)
    if compression == .compact { colors = PixelDeflate() }
  }

  /// Writes the stream to `target`, which must hold `PixelDeflate.largestBytes`, and returns its
  /// length; `nil` where the pixels should not be matched.
  mutating func compress(_ lines: inout Scanlines, to target: UnsafeMutableRawPointer) -> Int? {
    if colors == nil {
      return fastFilter(of: &lines).map { grays.compress(&lines, evenFilter: $0, to: target) }
    }
    return compactFilter(of: &lines).flatMap {
      colors?.compress(&lines, evenFilter: $0, to: target)
    }
  }

  /// The filter of even rows for matches of gray pixels; `nil` for literals.
  mutating func fastFilter(of lines: inout Scanlines) -> ScanlineFilter? {
    estimates(of: &lines).min { $0.cost < $1.cost }?.evenFilter
  }

  /// The filter of even rows for matches of pixels of all colors; `nil` for drawings, for which a
  /// more thorough search is better.
  mutating func compactFilter(of lines: inout Scanlines) -> ScanlineFilter? {
    if isFlat(&lines) { return nil }
    guard isLargeEnough(lines) else { return .up }
    let groups = groups(of: lines, sampling: Self.compactSampling)
    let sub = gray(.sub, of: &lines, groups).bits
    let up = gray(.up, of: &lines, groups).bits
    return sub * 100 < up * Self.subAgainstUp ? .sub : .up
  }

  private func isLargeEnough(_ lines: Scanlines) -> Bool {
    lines.lineBytes >= Self.leastLineBytes && lines.height >= Self.leastGroups * Self.groupRows
  }

  /// Estimates of all strategies of `fast`; empty for a picture that is too small.
  mutating func estimates(of lines: inout Scanlines) -> [Estimate] {
    guard isLargeEnough(lines) else { return [] }
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
          LineTokens.count(lines.line(y, filter: .paeth), lines.lineBytes, counts)
          rows += 1
        }
      }
    }
    lineCode.make(hasValues: false, smoothed: true, withPairs: false)
    return Estimate(
      bits: lineCode.countedBits * 1024 / (rows * lines.rowBytes / 3), time: 0)
  }

  private mutating func gray(
    _ filter: ScanlineFilter, of lines: inout Scanlines, _ groups: [Range<Int>]
  ) -> Estimate {
    let counted = grays.estimate(filter, of: &lines, groups, unseen: Self.unseenRows)
    return Estimate(
      evenFilter: filter, bits: counted.bits * 1024 / counted.pixels,
      time: Self.grayTime + Self.tokenTime * counted.tokens / counted.pixels
        + (filter == .paeth ? Self.paethTime : 0))
  }

  /// Whether most pixels of a few even rows are predicted exactly, as in drawings: as literals they
  /// take less than four bits each.
  private func isFlat(_ lines: inout Scanlines) -> Bool {
    var code = HuffmanCode()
    let samples = min(Self.flatRows, (lines.height + 1) / 2)
    for filter in [ScanlineFilter.sub, .up] {
      var counts = [UInt32](repeating: 0, count: 256)
      for sample in 0..<samples {
        let y = (2 * sample + 1) * lines.height / (2 * Self.flatRows) & ~1
        let residual = lines.line(y, filter: filter) + 1
        var offset = 0
        while offset < lines.rowBytes {
          counts[Int(residual.load(fromByteOffset: offset, as: UInt8.self))] &+= 1
          offset &+= 1
        }
      }
      code.build(counts: counts, limit: LineCode.longest)
      if code.bitCount(of: counts) < 4 * samples * lines.rowBytes / 3 { return true }
    }
    return false
  }
}
