import Core
import SystemPackage

extension PNGReader {
  /// As `depth(in:file:)`.
  public static func storedDepth(
    in bytes: [UInt8], file: FilePath? = nil
  ) throws(ImageError) -> DepthImage {
    try checkGray(bytes, bitDepth: 16, file)
    return try depth(in: bytes, file: file)
  }

  /// As `gray(in:file:)`, but only for pictures whose values are stored in 8 bits: fewer bits would
  /// be scaled.
  public static func storedGray(
    in bytes: [UInt8], file: FilePath? = nil
  ) throws(ImageError) -> GrayImage {
    try checkGray(bytes, bitDepth: 8, file)
    return try gray(in: bytes, file: file)
  }

  /// Throws unless the header states gray without alpha of that depth. A header that is cut is left
  /// to the reader.
  private static func checkGray(
    _ bytes: [UInt8], bitDepth: UInt8, _ file: FilePath?
  ) throws(ImageError) {
    guard StoredPicture(bytes)?.kind == .png else { return }
    // Behind mark, length and type, width and height.
    let (depth, color) = (bytes[24], bytes[25])
    guard depth != bitDepth || color != 0 else { return }
    let kind =
      switch color {
      case 0: "gray"
      case 3: "a palette"
      case 4: "gray with alpha"
      default: "color"
      }
    throw ImageError(
      file: file, what: "\(kind) of \(depth) bits, not gray of \(bitDepth) bits", byteOffset: 24)
  }
}
