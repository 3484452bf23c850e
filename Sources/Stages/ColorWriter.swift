import Codecs
import Pipeline

/// Encodes RGB pictures in the format that the parameters ask for; one per worker.
struct ColorWriter: ~Copyable {
  private var png: PNGWriter?
  private var jpeg: JPEGWriter?
  /// Of the file names.
  let ending: String

  init(_ parameters: ParameterValues) throws {
    if parameters.text("format") == "jpeg" {
      png = nil
      jpeg = try JPEGWriter(quality: parameters.integer("quality") ?? 95)
      ending = "jpg"
    } else {
      jpeg = nil
      png = PNGWriter(compression: CommonParameters.compression(parameters))
      ending = "png"
    }
  }

  /// Replaces `file` by the encoded picture.
  mutating func encode(
    rgb: [UInt8], width: Int, height: Int, into file: inout [UInt8]
  ) throws {
    try png?.encode(rgb: rgb, width: width, height: height, into: &file)
    try jpeg?.encode(rgb: rgb, width: width, height: height, into: &file)
  }
}
