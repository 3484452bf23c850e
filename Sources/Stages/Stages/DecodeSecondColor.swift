import Captures
import Core
import Engine
import Media
import Processing

/// Decodes the video of a second camera as `decode-color` does the first one's, and writes its times and intrinsics
/// beside the pictures.
enum DecodeSecondColor: SelectingStage {
  static let name = "decode-second-color"
  static let version = 2
  static let sentence =
    "Decodes the video of a second camera to pictures named by the frames of the first, with frames.csv and "
    + "intrinsics.csv."
  static let ports: [Port] = []
  static let parameters =
    CommonParameters.selection
    + ParameterDescription.list(
      DecodeColor.format, DecodeColor.quality, DecodeColor.compression, DecodeColor.conversion,
      DecodeColor.matrix, DecodeColor.range)

  static let content = ArtifactContent.files

  static let reads: Set<CapturePart> = [.secondColor]

  static func libraries(
    _ parameters: ParameterValues, _ capture: CaptureSummary
  ) -> [String: String] { LibraryVersions.ofVideo }

  static func settles(_ warning: CaptureWarning, _ parameters: ParameterValues) -> Bool {
    warning.code == .multipleStreams && warning.message.hasSuffix("is not exported")
  }

  static func applicability(
    _ parameters: ParameterValues, _ capture: CaptureSummary
  ) -> Applicability {
    capture.parts[.secondColor].map(Applicability.init)
      ?? .notApplicable("the capture has no second camera")
  }

  static func run(_ context: StageContext) throws -> StageResult {
    guard let color = context.capture.secondColor.value else { return StageResult(frames: 0) }
    var second = context
    second.capture.color = context.capture.secondColor
    var result = try DecodeColor.decode(second, CommonParameters.selection(context.parameters))
    try writeTables(second, color)
    guard let pairing = color.description.pairing else { return result }
    result.recorded["pairing"] = .string(pairing.words)
    if pairing.isDoubtful {
      context.warnings.add(
        .pairingApproximate, "color", count: result.frames,
        "the second camera is paired \(pairing.words)")
    }
    return result
  }

  private static func writeTables(_ context: StageContext, _ color: ColorStream) throws {
    let files = context.staging.outputs.compactMap { file in
      FrameFileName.frame(file.path).map { (frame: $0, path: file.path) }
    }.sorted { $0.frame < $1.frame }
    var frames = try TableFile("frames.csv", ["frame", "timestamp_ns", "color"], context.staging)
    for (frame, path) in files {
      try frames.row(
        frame, context.capture.frames[frame].pictureTime?.nanoseconds, "\(context.stage)/\(path)")
    }
    try frames.finish()
    let written = Set(files.map(\.frame))
    let rows = context.capture.secondIntrinsics.filter { written.contains($0.frame) }
    guard !rows.isEmpty else { return }
    try ExportTables.write(rows, turnedClockwise: color.clockwiseQuarterTurns, nil, context)
  }
}
