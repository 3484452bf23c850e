/// What a few rows of an RGB picture say about how it is best written.
struct PixelStatistics {
  /// Pixels looked at.
  private(set) var pixels = 0
  /// Those of odd rows that differ from the one above, and those whose three differences are equal.
  private(set) var oddPixels = 0
  private(set) var changed = 0
  private(set) var equallyChanged = 0
  /// Bits of even rows in a Huffman code of literals alone.
  private(set) var subBits = 0
  private(set) var upBits = 0
  /// Pixels of even rows whose three differences from the pixel to the left are equal.
  private(set) var equallyChangedInRow = 0

  /// Rows of each kind that are looked at.
  private static let sampleRows = 8

  /// Every other row repeats the chroma of the one above: what the usual conversion of video does.
  var hasPairedRows: Bool { changed * 4 >= oddPixels && equallyChanged * 20 >= changed * 19 }

  /// Most pixels are predicted exactly, as in drawings.
  var isFlat: Bool { min(subBits, upBits) < 4 * pixels }

  /// Sub predicts so much better than Up that repetitions of fewer bits make up for the chroma that Up
  /// would have made disappear. The factor was found on videos of five kinds.
  var prefersSub: Bool { subBits * 100 < upBits * 90 }

  /// Literals are a poor bargain in even rows too: Sub is about as good as Up, and most neighbors have
  /// the same chroma, so that their three differences are one number. The factors were found on
  /// videos of six kinds.
  var hasRowsToRepeat: Bool {
    subBits * 100 < upBits * 95 && equallyChangedInRow * 10 >= pixels * 8
  }

  init(oddRowsOf lines: inout Scanlines) {
    for sample in 0..<min(Self.sampleRows, lines.height / 2) {
      let y = Self.row(sample, of: lines) | 1
      guard y < lines.height else { break }
      let residual = lines.line(y, filter: .up) + 1
      var offset = 0
      while offset < lines.rowBytes {
        let red = residual.load(fromByteOffset: offset, as: UInt8.self)
        let green = residual.load(fromByteOffset: offset &+ 1, as: UInt8.self)
        let blue = residual.load(fromByteOffset: offset &+ 2, as: UInt8.self)
        if red | green | blue != 0 {
          changed &+= 1
          if red == green && green == blue { equallyChanged &+= 1 }
        }
        offset &+= 3
      }
      oddPixels += lines.rowBytes / 3
    }
  }

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
          let red = residual.load(fromByteOffset: offset, as: UInt8.self)
          let green = residual.load(fromByteOffset: offset &+ 1, as: UInt8.self)
          let blue = residual.load(fromByteOffset: offset &+ 2, as: UInt8.self)
          counts[Int(red)] &+= 1
          counts[Int(green)] &+= 1
          counts[Int(blue)] &+= 1
          if filter == .sub, red == green, green == blue { equallyChangedInRow &+= 1 }
          offset &+= 3
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

  /// Rows spread over the picture.
  private static func row(_ sample: Int, of lines: Scanlines) -> Int {
    (2 * sample + 1) * lines.height / (2 * sampleRows)
  }
}
