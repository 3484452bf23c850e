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
