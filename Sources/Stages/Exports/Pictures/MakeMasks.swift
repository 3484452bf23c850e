import Captures
import Core
import Engine
import Media
import Processing
import SystemPackage

/// Writes which pixels of a color picture are to be used: 255, and 0 for the border that undistorting leaves black,
/// for depth that the sensor was not sure of, and for what other stages mark.
enum MakeMasks: Stage {
  static let name = "make-masks"
  static let version = 2
  static let sentence =
    "Writes a mask for each color picture (8-bit gray, 255 = use): without the black border of undistorted pictures, "
    + "low confidence, and pixels that are 0 in pictures of other stages."
  static let ports = [
    Port("color", .colorImages, isRequired: true, "the pictures that the masks are for"),
    Port("confidence", .confidenceImages, isRequired: false, "confidence of depth"),
  ]
  /// Pictures of the same names and size: what is 0 there is 0 here.
  static let takesAnyArtifact = true
  static let parameters =
    ParameterDescription.list(minimumConfidence, CommonParameters.compression)
    + PictureShapeParameters.following.all

  static let minimumConfidence = Parameter(
    "minimumConfidence", .integer(0...255), default: 0,
    "Pixels whose depth has less confidence are not used: 0 to 2 on iOS, 0 to 255 on Android; 0 takes all."
  )

  static let content = ArtifactContent.maskImages

  static let reads: Set<CapturePart> = [.color]

  static func alsoReads(
    _ parameters: ParameterValues, connected ports: Set<String>
  ) -> Set<CapturePart> {
    parameters[PictureShapeParameters.following.undistort] ? [.intrinsics, .calibration] : []
  }

  static func connects(
    _ port: String, _ parameters: ParameterValues, _ capture: CaptureSummary
  ) -> Bool { port != "confidence" || parameters[minimumConfidence] > 0 }

  static func externalFiles(
    _ parameters: ParameterValues, _ capture: CaptureSummary
  ) -> [String: FilePath] {
    PictureShapeParameters.following.file(parameters, deviceID: capture.deviceID)
      .map { [PictureShapeParameters.externalFile: $0] } ?? [:]
  }

  static func applicability(
    _ parameters: ParameterValues, _ capture: CaptureSummary
  ) -> Applicability { Applicability(capture.state(of: .color)) }

  static func nothingToDo(_ stage: StageDefinition) -> String? {
    nothingToLeaveOut(
      undistorts: stage.parameters[PictureShapeParameters.following.undistort],
      byConfidence: stage.parameters[minimumConfidence] > 0,
      inputs: stage.inputs.map(\.port))
  }

  /// `nil`: there is something to leave out.
  private static func nothingToLeaveOut(
    undistorts: Bool, byConfidence: Bool, inputs ports: some Sequence<String>
  ) -> String? {
    guard !undistorts, !byConfidence, Set(ports).subtracting(Self.ports.map(\.name)).isEmpty else {
      return nil
    }
    return
      "nothing to leave out: color is not undistorted, minimumConfidence is 0, and no stage marks pixels"
  }

  static func run(_ context: StageContext) throws -> StageResult {
    guard let input = context.inputs["color"], let color = context.capture.color.value,
      let width = color.description.width, let height = color.description.height
    else { return StageResult(frames: 0) }
    let shaping = try ColorShaping(context, color, .following)
    guard PublishedShape(input.record)?.shape == shaping?.shape else {
      throw StageFailure(
        "the pictures of '\(input.stage)' have another size or distortion than color.size, color.undistort and "
          + "color.alpha say: run it again with the same")
    }
    let confidence = try context.inputs["confidence"].map(ExportPictures.init)
    if confidence != nil, context.capture.alignment?.registered != true {
      throw StageFailure(
        "minimumConfidence: confidence is that of another camera than color", cause: .input)
    }
    let others = try context.inputs.filter { !["color", "confidence"].contains($0.key) }
      .sorted { $0.key < $1.key }.map { try ExportPictures($0.value) }
    if let nothing = nothingToLeaveOut(
      undistorts: shaping?.shape.undistorts == true, byConfidence: confidence != nil,
      inputs: context.inputs.keys)
    {
      throw StageDoesNotApply(nothing)
    }
    let frames = try ExportPictures(input).frames
    let unsure = frames.filter { confidence?.has($0) == false }
    if let first = unsure.first {
      context.warnings.add(
        .confidenceMissing, "confidence", count: unsure.count,
        "frame \(first): no confidence picture; its mask leaves no depth out")
    }
    context.progress.expect(frames.count)
    let grid = UprightGrid(
      width: width, height: height, clockwiseQuarterTurns: color.clockwiseQuarterTurns)
    let limit = context.parameters[minimumConfidence]
    let compression = context.parameters[CommonParameters.compression]
    try context.each(frames) { (frame: Int, scratch: inout Scratch) in
      if let picture = try confidence.flatMap({ $0.has(frame) ? try $0.gray(frame) : nil }) {
        grid.fill(&scratch.rgb) { x, y in
          let column = grid.cell(x, of: picture.width, along: grid.storedWidth)
          let row = grid.cell(y, of: picture.height, along: grid.storedHeight)
          return Int(picture.values[row * picture.width + column]) >= limit
        }
      } else {
        scratch.rgb = [UInt8](repeating: 255, count: 3 * width * height)
      }
      let shaped: (rgb: [UInt8], width: Int, height: Int) =
        try shaping?.shaped(
          scratch.rgb, width: width, height: height, frame: frame, &scratch.shaper)
        ?? (scratch.rgb, width, height)
      // A pixel that is partly made of others is not used.
      scratch.mask = (0..<shaped.width * shaped.height).map { shaped.rgb[3 * $0] == 255 ? 255 : 0 }
      for other in others where other.has(frame) {
        let marked = try other.color(frame)
        guard (marked.width, marked.height) == (shaped.width, shaped.height) else {
          throw StageFailure(
            "'\(other.stage)', frame \(frame): \(marked.width)x\(marked.height) pixels, the picture has "
              + "\(shaped.width)x\(shaped.height)", cause: .input)
        }
        for pixel in scratch.mask.indices where marked.rgb[3 * pixel] == 0 {
          scratch.mask[pixel] = 0
        }
      }
      try scratch.writer.encode(
        gray8: scratch.mask, width: shaped.width, height: shaped.height, into: &scratch.file)
      try context.staging.write(scratch.file, as: FrameFileName.name(frame))
    } makeScratch: {
      Scratch(
        shaper: PictureShaper(shaping?.shape ?? PictureShape()),
        writer: PNGWriter(compression: compression))
    }
    return StageResult(frames: frames.count)
  }

  private struct Scratch: ~Copyable {
    var shaper: PictureShaper
    var writer: PNGWriter
    var rgb: [UInt8] = []
    var mask: [UInt8] = []
    var file: [UInt8] = []
  }
}

/// The pixels of an upright picture, and where they lie in the stored one.
private struct UprightGrid {
  let width: Int
  let height: Int
  let clockwiseQuarterTurns: Int

  var storedWidth: Int { clockwiseQuarterTurns % 2 == 0 ? width : height }
  var storedHeight: Int { clockwiseQuarterTurns % 2 == 0 ? height : width }

  /// The one of `count` cells in which the center of pixel `position` of `length` lies; on a border, the one before it.
  func cell(_ position: Int, of count: Int, along length: Int) -> Int {
    ((2 * position + 1) * count - 1) / (2 * length)
  }

  /// 255 where `isUsed` holds of the stored column and row, else 0.
  func fill(_ rgb: inout [UInt8], _ isUsed: (Int, Int) -> Bool) {
    rgb.removeAll(keepingCapacity: true)
    rgb.reserveCapacity(3 * width * height)
    for v in 0..<height {
      for u in 0..<width {
        let (x, y) =
          switch clockwiseQuarterTurns % 4 {
          case 1: (v, storedHeight - 1 - u)
          case 2: (storedWidth - 1 - u, storedHeight - 1 - v)
          case 3: (storedWidth - 1 - v, u)
          default: (u, v)
          }
        let value: UInt8 = isUsed(x, y) ? 255 : 0
        for _ in 0..<3 { rgb.append(value) }
      }
    }
  }
}
