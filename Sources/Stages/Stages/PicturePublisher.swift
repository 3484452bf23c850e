import Core
import Engine
import Media
import Processing

/// Receives an upright picture in its published shape: its frame, RGB row by row, columns and rows.
typealias PictureVisitor =
  @Sendable (_ frame: Int, _ rgb: [UInt8], _ width: Int, _ height: Int) throws -> Void

/// Gives upright pictures their published shape, and writes them or passes them on.
struct PicturePublisher {
  let context: StageContext
  /// Gives pictures their shape; `nil` leaves them as they are.
  let shaping: ColorShaping?
  /// Receives pictures instead of writing them; called by any thread.
  let visit: PictureVisitor?
  /// Measures the pictures that are written, as they were recorded.
  let gauge: PictureGauge?

  /// The buffers of one worker.
  struct Scratch: ~Copyable {
    var writer: PictureWriter
    var shaper: PictureShaper
  }

  func with(_ context: StageContext) -> PicturePublisher {
    PicturePublisher(context: context, shaping: shaping, visit: visit, gauge: gauge)
  }

  /// - Parameter color: what PNG files state of their colors; `nil` for 8-bit pictures.
  func scratch(color: PNGColor? = nil) throws -> Scratch {
    let values = context.parameters
    return Scratch(
      writer: try PictureWriter(
        jpegQuality: values[DecodeColor.format] == .jpeg ? values[DecodeColor.quality] : nil,
        values, color: color),
      shaper: PictureShaper(shaping?.shape ?? PictureShape()))
  }

  /// - Parameter rgb: the picture as it was recorded.
  func publish(
    _ frame: Int, rgb: [UInt8], width: Int, height: Int, _ scratch: inout Scratch
  ) throws {
    gauge?.measure(frame, rgb: rgb, width: width, height: height)
    let shaped: (rgb: [UInt8], width: Int, height: Int) =
      try shaping?.shaped(rgb, width: width, height: height, frame: frame, &scratch.shaper)
      ?? (rgb, width, height)
    if let visit { return try visit(frame, shaped.rgb, shaped.width, shaped.height) }
    try scratch.writer.encode(rgb: shaped.rgb, width: shaped.width, height: shaped.height)
    try write(frame, scratch)
  }

  /// Publishes a picture that is one file of the capture.
  func publish(_ frame: Int, _ picture: ColorImage) throws {
    var scratch = try self.scratch()
    try publish(
      frame, rgb: picture.rgb, width: picture.width, height: picture.height, &scratch)
  }

  /// Writes the encoded picture.
  func write(_ frame: Int, _ scratch: borrowing Scratch) throws {
    try context.staging.write(
      scratch.writer.file, as: FrameFileName.name(frame, scratch.writer.ending))
  }
}

/// Encodes pictures in one format; one per worker.
struct PictureWriter: ~Copyable {
  private var png: PNGWriter?
  private var jpeg: JPEGWriter?
  /// The last picture, encoded.
  var file: [UInt8] = []
  /// The quality of JPEG pictures if nothing else is asked for.
  static let usualQuality = 95
  /// Extension of the file names.
  let ending: String

  /// - Parameters:
  ///   - jpegQuality: `nil` for PNG.
  ///   - color: what PNG files state of their colors; `nil` for 8-bit pictures.
  init(jpegQuality: Int?, _ parameters: ParameterValues, color: PNGColor? = nil) throws {
    if let jpegQuality {
      png = nil
      jpeg = try JPEGWriter(quality: jpegQuality)
      ending = "jpg"
    } else {
      jpeg = nil
      png = PNGWriter(compression: parameters[CommonParameters.compression], color: color)
      ending = "png"
    }
  }

  mutating func encode(rgb: [UInt8], width: Int, height: Int) throws {
    try png?.encode(rgb: rgb, width: width, height: height, into: &file)
    try jpeg?.encode(rgb: rgb, width: width, height: height, into: &file)
  }

  /// Encodes a picture of 16-bit gray values, for PNG.
  mutating func encode(gray16: [UInt16], width: Int, height: Int) throws {
    try png?.encode(gray16: gray16, width: width, height: height, into: &file)
  }

  /// Encodes a picture of 16-bit values as PNG.
  mutating func encode(rgb16: [UInt16], width: Int, height: Int) throws {
    guard png != nil else {
      throw InternalError("pictures of 16 bits are written as JPEG")
    }
    try png?.encode(rgb16: rgb16, width: width, height: height, into: &file)
  }
}
