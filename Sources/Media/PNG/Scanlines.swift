/// The lines of a picture as stored in a file: a filter byte, then the predicted bytes.
///
/// Borrows the pixels and its scratch memory; must not outlive the call that makes it.
struct Scanlines {
  let rowBytes: Int
  let height: Int
  let format: PNGFormat
  private let pixels: UnsafeRawPointer
  private let line: UnsafeMutablePointer<UInt8>
  private let zeros: UnsafeMutablePointer<UInt8>
  /// Two rows of big-endian values for 16-bit pictures, and which rows they are.
  private let swapped: UnsafeMutablePointer<UInt8>
  private var swappedRows = (-1, -1)

  /// Size of a line: the filter byte and the row.
  var lineBytes: Int { rowBytes + 1 }

  /// Size of all lines.
  var totalBytes: Int { lineBytes * height }

  /// Size of the scratch memory for rows of `rowBytes`. Lines are read eight bytes at a time.
  static func scratchBytes(rowBytes: Int) -> Int { 4 * roundedUp(rowBytes) + 64 }

  /// `scratch` must hold `scratchBytes(rowBytes:)` bytes, aligned for 16-bit values.
  init(
    pixels: UnsafeRawPointer, width: Int, height: Int, format: PNGFormat,
    scratch: UnsafeMutablePointer<UInt8>
  ) {
    self.pixels = pixels
    self.height = height
    self.format = format
    rowBytes = width * format.pixelBytes
    let step = Self.roundedUp(rowBytes)
    zeros = scratch
    swapped = scratch + step
    line = scratch + 3 * step
    zeros.update(repeating: 0, count: rowBytes)
  }

  /// The line of row `y`, valid until the next call; `lineBytes` bytes.
  mutating func line(_ y: Int, filter: ScanlineFilter) -> UnsafeRawPointer {
    // The upper row first: with two buffers it never displaces the lower one.
    let above = y > 0 && filter != .none ? row(y - 1) : UnsafePointer(zeros)
    let current = row(y)
    write(current, above: above, filter: filter, to: line)
    return UnsafeRawPointer(line)
  }

  /// Writes the line of row `y` to `target`, which must hold `lineBytes` bytes.
  mutating func write(_ y: Int, filter: ScanlineFilter, to target: UnsafeMutablePointer<UInt8>) {
    let above = y > 0 && filter != .none ? row(y - 1) : UnsafePointer(zeros)
    write(row(y), above: above, filter: filter, to: target)
  }

  private func write(
    _ current: UnsafePointer<UInt8>, above: UnsafePointer<UInt8>, filter: ScanlineFilter,
    to target: UnsafeMutablePointer<UInt8>
  ) {
    target[0] = filter.rawValue
    let residual = target + 1
    switch filter {
    case .none:
      residual.update(from: current, count: rowBytes)
    case .sub:
      // Without a left neighbor the difference is the pixel itself.
      let pixelBytes = format.pixelBytes
      residual.update(from: current, count: pixelBytes)
      ScanlineKernels.up(
        current: current + pixelBytes, above: current, count: rowBytes - pixelBytes,
        residual: residual + pixelBytes)
    case .up:
      ScanlineKernels.up(current: current, above: above, count: rowBytes, residual: residual)
    case .paeth:
      // Without a left neighbor the prediction is the pixel above.
      let pixelBytes = format.pixelBytes
      ScanlineKernels.up(current: current, above: above, count: pixelBytes, residual: residual)
      ScanlineKernels.paeth(
        current: current + pixelBytes, above: above + pixelBytes, pixelBytes: pixelBytes,
        count: rowBytes - pixelBytes, residual: residual + pixelBytes)
    }
  }

  /// The bytes of row `y` as in the file, valid until the row after the next is requested.
  mutating func row(_ y: Int) -> UnsafePointer<UInt8> {
    let source = pixels + y * rowBytes
    guard format.isWide else { return source.assumingMemoryBound(to: UInt8.self) }
    let isOdd = y & 1 == 1
    let target = swapped + (isOdd ? Self.roundedUp(rowBytes) : 0)
    if (isOdd ? swappedRows.1 : swappedRows.0) != y {
      ScanlineKernels.bigEndian(
        source.assumingMemoryBound(to: UInt16.self), count: rowBytes / 2, into: target)
      if isOdd { swappedRows.1 = y } else { swappedRows.0 = y }
    }
    return UnsafePointer(target)
  }

  private static func roundedUp(_ bytes: Int) -> Int { (bytes + 63) & ~63 }
}
