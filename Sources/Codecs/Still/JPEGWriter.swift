import CFFmpeg
import Geometry

/// Encodes RGB pictures as baseline JPEG (JFIF, full-range BT.601, optimal Huffman codes) through libavcodec.
///
/// The bytes depend on the pixels and the settings alone. One per worker. Cost for 1296x968 on one core:
/// 17 ms at quality 90.
public struct JPEGWriter {
  /// How finely color is stored.
  public enum Chroma: String, CaseIterable, Sendable {
    /// One sample for 2x2 pixels (4:2:0), as cameras do.
    case halved
    /// One sample per pixel (4:4:4), for text and drawings.
    case full
  }

  /// 1…100, the scale of the Independent JPEG Group: 50 is the table of the standard, 100 divides by 1.
  public let quality: Int
  public let chroma: Chroma
  private var encoder: JPEGEncoder?

  /// Values outside of 1…100 are taken for the nearer end.
  public init(quality: Int = 90, chroma: Chroma = .halved) {
    self.quality = min(max(quality, 1), 100)
    self.chroma = chroma
  }

  /// The file for a picture of three bytes a pixel, row 0 on top, no padding.
  public mutating func encode(
    rgb: [UInt8], width: Int, height: Int
  ) throws(ImageError) -> [UInt8] {
    guard (1...65_500).contains(width), (1...65_500).contains(height),
      rgb.count == width * height * 3
    else {
      throw ImageError(
        what: "\(rgb.count) bytes are no picture of \(width)x\(height) pixels for JPEG",
        remedy: "sides are 1…65500 pixels, rows follow each other without padding")
    }
    if encoder?.width != width || encoder?.height != height {
      encoder = try JPEGEncoder(width: width, height: height, quality: quality, chroma: chroma)
    }
    guard let encoder else { return [] }
    return try encoder.encode(rgb)
  }

  /// The file for an RGB picture.
  public mutating func encode(_ image: ColorImage) throws(ImageError) -> [UInt8] {
    try encode(rgb: image.rgb, width: image.width, height: image.height)
  }
}
