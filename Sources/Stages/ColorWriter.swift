import Codecs
import Pipeline

/// Encodes RGB pictures in the format of the parameters; one per worker.
struct ColorWriter: ~Copyable {
  private var png: PNGWriter?
  private var jpeg: JPEGWriter?
  /// The quality of JPEG pictures if nothing else is asked for.
  static let usualQuality = 95
  /// Extension of the file names.
  let ending: String

  init(_ parameters: ParameterValues) throws {
    if parameters.text("format") == "jpeg" {
      png = nil
      jpeg = try JPEGWriter(quality: parameters.integer("quality") ?? Self.usualQuality)
      ending = "jpg"
    } else {
      jpeg = nil
      png = PNGWriter(compression: CommonParameters.compression(parameters))
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
}
