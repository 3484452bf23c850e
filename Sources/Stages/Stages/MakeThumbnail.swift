import Captures
import Media
import Core
import Engine
import Processing

/// Makes a small picture of the first upright frame.
enum MakeThumbnail: Stage {
  static let name = "make-thumbnail"
  static let version = 4
  static let sentence =
    "Writes thumbnail.png of the first picture: at most 300x300, upright, aspect kept."
  static let ports: [Port] = []
  static let parameters = ParameterDescription.list(always, side)

  private static let always = Parameter(
    "always", .flag, default: false, "Also for families that keep no thumbnail beside their media.")
  private static let side = Parameter(
    "side", .integer(1...4096), default: 300, "The longest side in pixels."
  ).measured(in: "px")

  static let content = ArtifactContent.thumbnail

  static let reads: Set<CapturePart> = [.color]

  /// FFmpeg determines which pictures a video has, and their pixels.
  static func libraries(
    _ parameters: ParameterValues, _ capture: CaptureSummary
  ) -> [String: String] { capture.colorIsVideo ? LibraryVersions.ofVideo : [:] }

  static func applicability(
    _ parameters: ParameterValues, _ capture: CaptureSummary
  ) -> Applicability {
    Applicability(capture.state(of: parameters[always] ? .color : .thumbnail))
  }

  static func run(_ context: StageContext) throws -> StageResult {
    guard let color = context.capture.color.value else { return StageResult(frames: 0) }
    let picture = try firstPicture(of: color)
    let small = picture.thumbnail(side: context.parameters[side])
    var writer = PNGWriter(compression: .compact)
    try context.staging.write(writer.encode(small), as: "thumbnail.png")
    return StageResult(frames: 1)
  }

  private static func firstPicture(of color: ColorStream) throws -> ColorImage {
    switch color.source {
    case .video(let file, let track):
      let decoder = try VideoDecoder(
        file, container: color.description.container, track: track, order: color.order,
        orientation: color.orientation)
      guard let picture = try decoder.next() else {
        throw UnreadableStream(description: "\(file): no picture can be decoded")
      }
      var rgb: [UInt8] = []
      var converter = ColorConverter()
      try converter.convert(picture, into: &rgb)
      return ColorImage(width: picture.width, height: picture.height, rgb: rgb)
    case .stills(let files):
      guard let first = files.first else {
        throw UnreadableStream(description: "no picture in the capture")
      }
      return try StillImage.read(first).upright
    case .pictures(let pictures):
      guard let first = pictures.first, let picture = try pictures.decode(first).picture else {
        throw UnreadableStream(description: "no picture of the capture can be decoded")
      }
      return picture
    }
  }
}
