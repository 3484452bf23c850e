import Captures
import Media
import Engine

/// The file form of exported pictures.
package enum PictureForm: Hashable, Sendable {
  /// The files are shared unchanged.
  case same
  case png
  /// JPEG; files that are JPEG already are shared unchanged.
  case jpeg(quality: Int)

  /// The quality of the inner stage for JPEG pictures.
  package static let usualQuality = 95

  init(_ parameters: ParameterValues) {
    switch parameters.text("pictures") {
    case "png": self = .png
    case "jpeg": self = .jpeg(quality: parameters.integer("quality") ?? Self.usualQuality)
    default: self = .same
    }
  }

  /// The port of the pictures: pictures that a stage has already encoded are not encoded again.
  package var port: String { self == .jpeg(quality: Self.usualQuality) ? "jpeg" : "color" }

  /// Whether a frame's file must be encoded.
  func encodes(_ frame: Int, _ pictures: ExportPictures) -> Bool {
    let ending = pictures.ending(frame)
    switch self {
    case .same: return false
    case .png: return ending != "png"
    case .jpeg: return ending != "jpg"
    }
  }

  func ending(of frame: Int, _ pictures: ExportPictures) -> String {
    switch self {
    case .same: pictures.ending(frame) ?? "png"
    case .png: "png"
    case .jpeg: "jpg"
    }
  }
}

/// Encodes RGB pictures in a file form; one per worker.
package struct PictureWriter: ~Copyable {
  private var png: PNGWriter?
  private var jpeg: JPEGWriter?

  init(_ form: PictureForm, _ parameters: ParameterValues) throws {
    switch form {
    case .jpeg(let quality):
      png = nil
      jpeg = try JPEGWriter(quality: quality)
    case .same, .png:
      png = PNGWriter(compression: CommonParameters.compression(parameters))
      jpeg = nil
    }
  }

  /// Encodes the picture into `file`, replacing its content.
  package mutating func encode(
    rgb: [UInt8], width: Int, height: Int, into file: inout [UInt8]
  ) throws {
    try png?.encode(rgb: rgb, width: width, height: height, into: &file)
    try jpeg?.encode(rgb: rgb, width: width, height: height, into: &file)
  }
}
