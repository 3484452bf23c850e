import Media
import Engine

/// Encodes RGB pictures in the format of the parameters; one per worker.
struct ColorWriter: ~Copyable {
  private var png: PNGWriter?
  private var jpeg: JPEGWriter?
  /// The quality of JPEG pictures if nothing else is asked for.
  static let usualQuality = 95
  /// Extension of the file names.
  let ending: String

  /// - Parameter color: what PNG files state of their colors; `nil` for 8-bit pictures.
  init(_ parameters: ParameterValues, color: PNGColor? = nil) throws {
    if parameters.text("format") == "jpeg" {
      png = nil
      jpeg = try JPEGWriter(quality: parameters.integer("quality") ?? Self.usualQuality)
      ending = "jpg"
    } else {
      jpeg = nil
      png = PNGWriter(compression: CommonParameters.compression(parameters), color: color)
      ending = "png"
    }
  }

  /// Encodes the picture into `file`, replacing its content.
  mutating func encode(
    rgb: [UInt8], width: Int, height: Int, into file: inout [UInt8]
  ) throws {
    try png?.encode(rgb: rgb, width: width, height: height, into: &file)
    try jpeg?.encode(rgb: rgb, width: width, height: height, into: &file)
  }

  /// Encodes a picture of 16-bit values as PNG.
  mutating func encode(
    rgb16: [UInt16], width: Int, height: Int, into file: inout [UInt8]
  ) throws {
    guard png != nil else {
      throw InternalError("pictures of 16 bits are written as JPEG")
    }
    try png?.encode(rgb16: rgb16, width: width, height: height, into: &file)
  }
}
