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
