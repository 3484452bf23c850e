import CDeflate

/// Compresses the lines of a picture with libdeflate, all at once.
///
/// Filters and levels were chosen on noisy frames and depth maps, by size within the time that the
/// compression allows:
/// - RGB: Up for all rows. Conversion of video repeats chroma for pairs of rows, so that an odd row
///   minus the one above has three equal differences per pixel, which the match search finds. Level 1
///   for drawings, whose matches are long (`PixelDeflate` writes everything else), and level 9.
/// - 16-bit depth and 16-bit RGB: Paeth, levels 4 and 9.
/// - 8-bit gray, which has areas of a few values: no prediction, levels 6 and 9.
final class LibdeflateStream {
  private let compressor: OpaquePointer
  private let format: PNGFormat

  init(_ format: PNGFormat, compression: PNGCompression) throws(ImageError) {
    let compactLevel: Int32 =
      switch format {
      case .rgb8: 1
      case .gray16, .rgb16: 4
      case .gray8: 6
      }
    guard
      let compressor = libdeflate_alloc_compressor(compression == .archive ? 9 : compactLevel)
    else {
      throw ImageError(what: "no memory for a compressor")
    }
    self.compressor = compressor
    self.format = format
  }

  deinit {
    libdeflate_free_compressor(compressor)
  }

  /// Upper bound of the bytes that `compress` writes for `count` bytes.
  static func largestBytes(_ count: Int) -> Int {
    libdeflate_zlib_compress_bound(nil, count)
  }

  /// Writes the zlib stream to `target` and returns its length; 0 if `capacity` is too small.
  /// `packed` must hold all lines.
  func compress(
    _ lines: inout Scanlines, packed: UnsafeMutablePointer<UInt8>,
    to target: UnsafeMutableRawPointer, capacity: Int
  ) -> Int {
    for y in 0..<lines.height {
      lines.write(y, filter: filter, to: packed + y * lines.lineBytes)
    }
    return libdeflate_zlib_compress(compressor, packed, lines.totalBytes, target, capacity)
  }

  private var filter: ScanlineFilter {
    switch format {
    case .rgb8: .up
    case .gray16, .rgb16: .paeth
    case .gray8: .none
    }
  }
}
