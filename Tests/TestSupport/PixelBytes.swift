import Core

extension Array where Element: FixedWidthInteger {
  /// The bytes of all values as they lie in memory: on every processor that the program runs on, the lowest of each first.
  public var littleEndianBytes: [UInt8] { withUnsafeBytes { [UInt8]($0) } }
}

extension Digest {
  /// Of little-endian pixels.
  public init(ofPixels pixels: [some FixedWidthInteger]) {
    self.init(of: pixels.littleEndianBytes)
  }
}
