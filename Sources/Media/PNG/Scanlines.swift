import CPlatform

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

/// The pixel format of a file.
enum PNGFormat {
  case gray8
  case gray16
  case rgb8
  case rgb16

  var pixelBytes: Int {
    switch self {
    case .gray8: 1
    case .gray16: 2
    case .rgb8: 3
    case .rgb16: 6
    }
  }

  var isWide: Bool { self == .gray16 || self == .rgb16 }

  var bitDepth: UInt8 { isWide ? 16 : 8 }

  /// The color type of the header: 0 gray, 2 RGB.
  var colorType: UInt8 { self == .rgb8 || self == .rgb16 ? 2 : 0 }
}

/// The filter of a line; the raw value is the filter byte in the file.
enum ScanlineFilter: UInt8 {
  /// No prediction.
  case none = 0
  /// The difference to the pixel on the left.
  case sub = 1
  /// The difference to the pixel above.
  case up = 2
  /// The difference to the nearest of left, above and left + above - above left.
  case paeth = 4
}

/// The loops over the bytes of one line. All counts are bytes. Callers must check all bounds.
enum ScanlineKernels {
  /// `residual[i] = current[i] - above[i]`, modulo 256.
  static func up(
    current: UnsafePointer<UInt8>, above: UnsafePointer<UInt8>, count: Int,
    residual: UnsafeMutablePointer<UInt8>
  ) {
    var i = 0
    while i < count {
      residual[i] = current[i] &- above[i]
      i &+= 1
    }
  }

  /// Computes `current` minus its Paeth prediction. Reads `pixelBytes` bytes before `current` and
  /// `above`.
  static func paeth(
    current: UnsafePointer<UInt8>, above: UnsafePointer<UInt8>, pixelBytes: Int, count: Int,
    residual: UnsafeMutablePointer<UInt8>
  ) {
    scanmill_paeth(
      GrayFinder.hasWide, current, above, Int64(pixelBytes), Int64(count), residual)
  }

  /// Converts 16-bit values of the host to big-endian bytes.
  static func bigEndian(
    _ values: UnsafePointer<UInt16>, count: Int, into bytes: UnsafeMutablePointer<UInt8>
  ) {
    bytes.withMemoryRebound(to: UInt16.self, capacity: count) { target in
      var i = 0
      while i < count {
        target[i] = values[i].bigEndian
        i &+= 1
      }
    }
  }
}
