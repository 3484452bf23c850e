import Captures
import Codecs
import Geometry
import Parallel
import Pipeline
import Processing
import Storage
import SystemPackage

/// Pictures for people: does depth lie where color is?
public enum Preview: Stage {
  public static let name = "preview"
  public static let version = 4
  public static let sentence =
    "For some evenly spaced frames: color with the outlines of depth, beside depth in false color."
  public static let ports = [
    Port("color", .colorImages, isRequired: true, "color pictures (PNG or JPEG)"),
    Port("aligned", .alignedImages, isRequired: true, "depth on the color grid"),
  ]
  public static let parameters: [ParameterDescription] = [
    ParameterDescription(
      "frames", .integer(1...10_000), default: .integer(8), "How many frames are shown.")
  ]

  public static func content(_ parameters: ParameterValues) -> ArtifactContent { .preview }

  public static func reads(
    _ parameters: ParameterValues, connected ports: Set<String>
  ) -> Set<CapturePart> { [] }

  public static func applicability(
    _ parameters: ParameterValues, _ capture: CaptureSummary
  ) -> Applicability {
    let color = Applicability(capture.state(of: .color))
    guard case .applies = color else { return color }
    return Applicability(capture.state(of: .depth))
  }

  public static func run(_ context: StageContext) throws -> StageResult {
    guard let color = context.inputs["color"], let aligned = context.inputs["aligned"] else {
      return StageResult(frames: 0)
    }
    let (colors, depths) = (PictureFiles(color), PictureFiles(aligned))
    let common = colors.frames.filter { depths[$0] != nil }
    let chosen = evenlySpaced(common, count: context.parameters.integer("frames") ?? 8)
    context.progress.expect(chosen.count)
    // One range for all pictures, so that they can be compared; from a few of them, to bound memory.
    let samples = try evenlySpaced(chosen, count: 4).compactMap { frame in
      try depths[frame].map(PNGReader.depth)
    }
    let shades = PreviewPicture.range(of: samples)
    _ = try concurrentMap(count: chosen.count, budget: context.budget) { index in
      try context.cancellation.check()
      let frame = chosen[index]
      guard let colorFile = colors[frame], let depthFile = depths[frame],
        let picture = try colors.color(frame)
      else { return }
      let depth = try PNGReader.depth(at: depthFile)
      guard (picture.width, picture.height) == (depth.width, depth.height) else {
        throw PreviewSizeError(color: colorFile, aligned: depthFile)
      }
      let depthWidth = context.capture.depth.value?.width ?? depth.width
      let preview = PreviewPicture.compose(
        color: picture, aligned: depth, colors: shades,
        depthPixel: (depth.width + depthWidth - 1) / max(1, depthWidth))
      var writer = PNGWriter(compression: .compact)
      try context.staging.write(writer.encode(preview), as: FrameFileName.name(frame))
      context.progress.advance()
    }
    return StageResult(frames: chosen.count)
  }

  /// First and last included.
  static func evenlySpaced(_ frames: [Int], count: Int) -> [Int] {
    guard frames.count > count else { return frames }
    guard count > 1 else { return [frames[frames.count / 2]] }
    return (0..<count).map { frames[$0 * (frames.count - 1) / (count - 1)] }
  }
}

/// Color and aligned depth on different grids.
struct PreviewSizeError: Error, CustomStringConvertible {
  var color: FilePath
  var aligned: FilePath
  var description: String {
    "\(color) and \(aligned) differ in size (set aligned.grid=color for a preview)"
  }
}
