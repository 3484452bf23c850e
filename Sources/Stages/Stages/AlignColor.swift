import Captures
import Media
import Core
import Engine
import Processing
import SystemPackage

/// The inverse of `AlignDepth`: color as the depth camera would see it.
///
/// Frame k needs depth frame k and color picture k; if one of them is missing there is a hole.
enum AlignColor: Stage {
  static let name = "align-color"
  static let version = 3
  static let sentence =
    "Samples color into the depth camera: RGB on the depth grid, empty where the color camera cannot see."
  static let ports = [
    Port("frames", .depthFrames, isRequired: true, "decoded and filtered depth"),
    Port("color", .colorImages, isRequired: true, "color pictures (PNG or JPEG)"),
  ]
  static let parameters =
    ParameterDescription.list(masks)
    + AlignmentParameters.described(
      absolute:
        "What lies farther behind the visible surface than this plus the relative part is hidden.",
      fraction: "the visible surface's depth")

  private static let masks = Parameter(
    "masks", .flag, default: true,
    "Also write mask/: 255 where a color was found, 0 where the picture is empty (black).")

  static let content = ArtifactContent.colorImages

  static let reads: Set<CapturePart> = [.calibration]

  static func fileProblems(_ parameters: ParameterValues) -> [StageProblem] {
    CalibrationChoice.fileProblems(pathProblems(parameters), parameters)
  }

  static func externalFiles(
    _ parameters: ParameterValues, _ capture: CaptureSummary
  ) -> [String: FilePath] { CalibrationChoice.externalFiles(parameters, capture) }

  static func applicability(
    _ parameters: ParameterValues, _ capture: CaptureSummary
  ) -> Applicability {
    let color = Applicability(capture.state(of: .color))
    guard case .applies = color else { return color }
    return CalibrationChoice.applicability(parameters, capture)
  }

  static func run(_ context: StageContext) throws -> StageResult {
    guard let input = context.inputs["frames"], let color = context.inputs["color"] else {
      return StageResult(frames: 0)
    }
    let reader = try FrameStoreReader(input.folder)
    let pictures = PublishedPictureFiles(color)
    let sampler = try CalibrationChoice.cameras(context, reader.store).sampler(
      AlignmentParameters(context.parameters), of: color.record, color.record.stage)
    let size = sampler.depthSize
    let masks = context.parameters[masks]
    let compression = context.parameters[CommonParameters.compression]
    let frames = pictures.frames.filter(reader.hasPicture)
    let leftovers = LeftoverTally()
    context.progress.expect(frames.count)
    try context.each(frames) { (frame: Int, scratch: inout Scratch) in
      guard let picture = try pictures.color(frame) else { return }
      try reader.withFrame(frame, as: UInt16.self) { depth in
        try sampler.sample(
          picture, for: depth, scratch: &scratch.sampler, into: &scratch.picture,
          mask: &scratch.mask)
        if !leftovers.isAnythingLeft {
          leftovers.add(
            values: DepthImage.measured(depth),
            isAnythingLeft: scratch.mask.values.contains { $0 != 0 })
        }
      }
      try scratch.writer.encode(
        rgb: scratch.picture.rgb, width: size.width, height: size.height, into: &scratch.file)
      try context.staging.write(scratch.file, as: FrameFileName.name(frame))
      if masks {
        try scratch.writer.encode(
          gray8: scratch.mask.values, width: size.width, height: size.height, into: &scratch.file)
        try context.staging.write(scratch.file, as: "mask/" + FrameFileName.name(frame))
      }
    } makeScratch: {
      Scratch(writer: PNGWriter(compression: compression))
    }
    leftovers.report(
      "color", "depth pixels",
      "none has a place in the color picture; check the calibration, "
        + AlignmentParameters.settings(context.parameters), to: context.warnings)
    var recorded: [String: JSONValue] = [:]
    if !sampler.rescaledCameras.isEmpty {
      recorded["rescaledIntrinsics"] = sampler.rescaledCameras.recorded
    }
    return StageResult(frames: frames.count, recorded: recorded)
  }

  private struct Scratch {
    var sampler = ColorSamplerScratch()
    var picture = ColorImage(width: 0, height: 0)
    var mask = GrayImage(width: 0, height: 0, values: [])
    var writer: PNGWriter
    var file: [UInt8] = []
  }
}
