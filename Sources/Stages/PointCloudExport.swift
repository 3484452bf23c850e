import Captures
import Codecs
import Geometry
import Parallel
import Pipeline
import Processing
import Storage
import SystemPackage

/// Depth frames as point clouds: one for the capture or one per frame, in meters.
///
/// World axes are the app's; without poses points stay in camera axes, and one cloud holds one frame.
public enum PointCloudExport: Stage {
  public static let name = "export-ply"
  public static let version = 2
  public static let sentence =
    "Writes depth as PLY point clouds (binary, meters, the app's world), colored when color is connected."
  public static let ports = [
    Port("frames", .depthFrames, isRequired: true, "decoded and filtered depth"),
    Port("color", .colorImages, isRequired: false, "color pictures; points without color go"),
  ]
  public static let parameters: [ParameterDescription] =
    [
      ParameterDescription(
        "layout", .choice(Layout.allCases.map(\.rawValue)), default: .text(Layout.cloud.rawValue),
        "cloud: all frames in cloud.ply. frames: 000000.ply, … one per frame."),
      ParameterDescription(
        "axes", .choice(Axes.allCases.map(\.rawValue)), default: .text(Axes.world.rawValue),
        "world: the app's, where it recorded poses. camera: x right, y down, z forward."),
      ParameterDescription(
        "every", .integer(1...Int.max), default: .integer(10),
        "Only frames whose index is a multiple of this."),
      ParameterDescription(
        "first", .integer(0...Int.max), default: .integer(0), "The first frame, by index."),
      ParameterDescription("last", .integer(0...Int.max), "The last frame, by index, inclusive."),
      ParameterDescription(
        "pixels", .integer(1...65_535), default: .integer(1),
        "Only every such column and row of the depth grid."),
      ParameterDescription(
        "minimumConfidence", .integer(0...255),
        "Points of less confidence are left out; needs a confidence stream."),
      ParameterDescription(
        "maximumDistance", .length(0...65.535),
        "Points with a larger depth (along the depth camera's axis) are left out."),
      ParameterDescription(
        "confidence", .flag, default: .flag(false), "Each point has its confidence, 0 to 255."),
      ParameterDescription(
        "frame", .flag, default: .flag(false), "Each point has the index of its frame."),
    ] + CalibrationChoice.parameters

  /// How many files there are.
  enum Layout: String, CaseIterable {
    case cloud, frames
  }

  /// What coordinates refer to.
  enum Axes: String, CaseIterable {
    case world, camera
  }

  public static func content(_ parameters: ParameterValues) -> ArtifactContent { .pointCloud }

  public static func reads(
    _ parameters: ParameterValues, connected ports: Set<String>
  ) -> Set<CapturePart> {
    var parts: Set<CapturePart> = [.calibration, .intrinsics]
    if parameters.text("axes") != Axes.camera.rawValue { parts.insert(.poses) }
    if needsConfidence(parameters) { parts.insert(.confidence) }
    return parts
  }

  static func needsConfidence(_ parameters: ParameterValues) -> Bool {
    parameters.integer("minimumConfidence") != nil || parameters.flag("confidence")
  }

  public static func fileProblems(_ parameters: ParameterValues) -> [StageProblem] {
    CalibrationChoice.fileProblems(pathProblems(parameters), parameters)
  }

  public static func externalFiles(
    _ parameters: ParameterValues, _ capture: CaptureSummary
  ) -> [String: FilePath] { CalibrationChoice.externalFiles(parameters, capture) }

  public static func applicability(
    _ parameters: ParameterValues, _ capture: CaptureSummary
  ) -> Applicability {
    let depth = CalibrationChoice.applicability(parameters, capture)
    guard case .applies = depth else { return depth }
    if parameters.text("axes") != Axes.camera.rawValue,
      case .unreadable(let why) = capture.state(of: .poses)
    {
      return .unreadable(why)
    }
    // Intrinsics of single frames matter unless a file takes their place.
    if CalibrationChoice.file(parameters, deviceID: capture.deviceID) == nil,
      case .unreadable(let why) = capture.state(of: .intrinsics)
    {
      return .unreadable(why)
    }
    guard needsConfidence(parameters) else { return .applies }
    return Applicability(capture.state(of: .confidence))
  }

  public static func run(_ context: StageContext) throws -> StageResult {
    guard let input = context.inputs["frames"] else { return StageResult(frames: 0) }
    let plan = try PointCloudPlan(context, FrameStoreReader(input.folder))
    let confidence = try ConfidenceFrames(context)
    let sink = try PointCloudSink(plan, context.staging)
    let pool = ScratchPool { PointCloudScratch(plan.layout) }
    context.progress.expect(plan.frames.count)
    // As many frames at a time as there are cores, then their points in the order of frames: the bytes
    // are the same for any number of workers, and no more than that is in memory.
    var position = 0
    while position < plan.frames.count {
      try context.cancellation.check()
      let batch = Array(plan.frames[position..<min(position + context.workers, plan.frames.count)])
      let certainties = try batch.map { try confidence?.read($0) }
      let drawn = try concurrentMap(count: batch.count, budget: context.budget) { index in
        var scratch = pool.take()
        try plan.draw(batch[index], confidence: certainties[index], &scratch)
        return scratch
      }
      for (frame, scratch) in zip(batch, drawn) {
        try sink.append(scratch.points, of: frame)
        pool.giveBack(scratch)
      }
      position += batch.count
      context.progress.advance(by: batch.count)
    }
    try sink.finish()
    return StageResult(
      frames: plan.frames.count,
      recorded: [
        "points": .integer(Int64(sink.points)), "usedAxes": .string(plan.axes.rawValue),
        "framesWithoutPose": .integer(Int64(plan.framesWithoutPose)),
      ])
  }
}
