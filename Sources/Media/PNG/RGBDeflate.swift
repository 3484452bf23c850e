/// Writes RGB pictures whose pixels match earlier ones, for one compression.
struct RGBDeflate {
  private let compression: PNGCompression
  private var choice = EncodingStrategy()
  private var grays: GrayDeflate?
  private var colors: PixelDeflate?

  init(compression: PNGCompression) {
    self.compression = compression
    switch compression {
    case .fast: grays = GrayDeflate()
    case .compact: colors = PixelDeflate()
    case .archive: break
    }
  }

  /// Writes the stream to `target`, which must hold `PixelDeflate.largestBytes`, and returns its
  /// length; `nil` when another strategy is better.
  mutating func compress(
    _ lines: inout Scanlines, to target: UnsafeMutableRawPointer
  ) -> Int? {
    switch compression {
    case .fast:
      guard case .gray(let filter) = choice.fastStrategy(of: &lines) else { return nil }
      return grays?.compress(&lines, evenFilter: filter, to: target)
    case .compact:
      guard let filter = choice.compactFilter(of: &lines) else { return nil }
      return colors?.compress(&lines, evenFilter: filter, to: target)
    case .archive: return nil
    }
  }
}
