extension PNGReader {
  /// A 16-bit gray file of that size with the pixels of `bytes`, which are not inflated. See
  /// `bareGray8`.
  public static func bareGray16(_ bytes: [UInt8], width: Int, height: Int) -> [UInt8]? {
    bare(bytes, .gray16, width: width, height: height)
  }

  /// An 8-bit gray file of that size with the pixels of `bytes`, which are not inflated: the same
  /// header and compressed lines, without any notes. `nil` if the file is of another kind or size, or
  /// a checksum is wrong. Whether the lines can be inflated is not looked at. Cost: a checksum over
  /// the bytes, and a copy unless `bytes` have no notes.
  public static func bareGray8(_ bytes: [UInt8], width: Int, height: Int) -> [UInt8]? {
    bare(bytes, .gray8, width: width, height: height)
  }

  private static func bare(
    _ bytes: [UInt8], _ format: PNGFormat, width: Int, height: Int
  ) -> [UInt8]? {
    bytes.withUnsafeBytes { input in
      guard let file = PlainPNG(input, largestSide: max(width, height)), file.format == format,
        file.width == width, file.height == height
      else { return nil }
      return file.bare ?? bytes
    }
  }
}
