import Captures
import Core
import Engine
import Media
import Processing
import Synchronization
import SystemPackage

/// Writes depth frames as point clouds: one for the capture or one per frame, in meters.
///
/// World axes are the app's; without poses points stay in camera axes, and a cloud contains one
/// frame.
enum ExportPLY: ExportStage {
  static let name = "export-ply"
  static let version = 4
  static let sentence =
    "PLY point clouds of depth (binary, meters, the app's world), colored where there is color; needs depth, "
    + "intrinsics."
  static let ports = [
    Port("frames", .depthFrames, isRequired: true, "decoded and filtered depth"),
    Port(
      "color", .colorImages, isRequired: false, "color pictures; points without color are left out"),
  ]
  static let parameters =
    ParameterDescription.list(
      layout, axes, color, every, CommonParameters.first, CommonParameters.last)
    + PickParameters.picking
    + ParameterDescription.list(
      PoseSegments.parameter.needing(axes, .world), pixels, minimumConfidence, maximumDistance,
      confidence, frame)
    + CalibrationChoice.parameters

  static let layout = Parameter(
    "layout", .choice(), default: Layout.cloud,
    "cloud: all frames in cloud.ply. frames: 000000.ply, … one per frame.")
  private static let axes = Parameter(
    "axes", .choice(), default: Axes.world,
    "world: the app's, where it recorded poses. camera: x right, y down, z forward.")
  static let color = Parameter(
    "color", .flag, default: true,
    "Points have the colors of the pictures; false: no picture is read or made for this.")
  private static let every = Parameter(
    CommonParameters.every.name, .integer(1...Int.max), default: 10,
    "Only frames whose index is a multiple of this. With count or pick, and of pictures that color has picked, "
      + "all are taken unless another number than this is set.")
  static let pixels = Parameter(
    "pixels", .integer(1...65_535), default: 1, "Only every such column and row of the depth grid.")
  static let minimumConfidence = Parameter(
    "minimumConfidence", .integer(0...255),
    "Points with less confidence are left out; needs a confidence stream.")
  static let maximumDistance = Parameter(
    "maximumDistance", .length(0...65.535),
    "Points with a larger depth (along the depth camera's axis) are left out.")
  static let confidence = Parameter(
    "confidence", .flag, default: false, "Each point has its confidence, 0 to 255.")
  static let frame = Parameter(
    "frame", .flag, default: false, "Each point has the index of its frame.")

  /// Number of files.
  enum Layout: String, CaseIterable {
    case cloud, frames
  }

  /// The axes of coordinates.
  enum Axes: String, CaseIterable {
    case world, camera
  }

  static let needs: ExportNeeds = [.depth]

  static let content = ArtifactContent.pointCloud

  /// Points depend on the whole calibration.
  static func fileProblems(_ parameters: ParameterValues) -> [StageProblem] {
    var problems = pathProblems(parameters) + PickParameters.problems(parameters)
    if PickParameters.needsPictures(parameters), !parameters[color] {
      problems.append(
        StageProblem(parameter: PickParameters.pick.name, "needs pictures: leave out color=false"))
    }
    return CalibrationChoice.fileProblems(problems, parameters)
  }

  static let reads: Set<CapturePart> = [.frames, .calibration, .intrinsics]

  static func alsoReads(
    _ parameters: ParameterValues, connected ports: Set<String>
  ) -> Set<CapturePart> {
    var parts = PickParameters.reads(parameters)
    // Camera axes need no pose, so an unreadable pose file does not matter.
    if wantsWorld(parameters) { parts.insert(.poses) }
    if needsConfidence(parameters) { parts.insert(.confidence) }
    return parts
  }

  static func wantsWorld(_ parameters: ParameterValues) -> Bool {
    parameters[axes] == .world
  }

  /// The parameters without the default of `every`, which thins clouds: an `every` that was set stays.
  static func withoutUsualEvery(_ parameters: ParameterValues) -> ParameterValues {
    var all = parameters
    if all[every.name] == every.description.standard { all[every.name] = .integer(1) }
    return all
  }

  /// The parameters that choose frames: where `count` or `pick` thins them, the default of `every` does not.
  static func choosing(_ parameters: ParameterValues) -> ParameterValues {
    PickParameters.picks(parameters) ? withoutUsualEvery(parameters) : parameters
  }

  static func needsConfidence(_ parameters: ParameterValues) -> Bool {
    parameters[minimumConfidence] != nil || parameters[confidence]
  }

  static func connects(
    _ port: String, _ parameters: ParameterValues, _ capture: CaptureSummary
  ) -> Bool {
    guard port == "color" else { return true }
    if case .absent = capture.state(of: .color) { return false }
    return parameters[color]
  }

  static func applicability(
    _ parameters: ParameterValues, _ capture: CaptureSummary
  ) -> Applicability {
    let depth = needs.applicability(name, parameters, capture)
    guard case .applies = depth else { return depth }
    if capture.exports.isMirrored {
      return .notApplicable(ColorStream.mirrorReason)
    }
    if let reason = missingCalibration(parameters, capture) {
      return CalibrationChoice.unreadable(capture).map { .unreadable($0) } ?? .notApplicable(reason)
    }
    if wantsWorld(parameters), case .unreadable(let why) = capture.state(of: .poses) {
      return .unreadable(why)
    }
    // Intrinsics of single frames are used unless a file replaces them.
    if CalibrationChoice.file(parameters, deviceID: capture.deviceID) == nil,
      case .unreadable(let why) = capture.state(of: .intrinsics)
    {
      return .unreadable(why)
    }
    let confidence =
      needsConfidence(parameters) ? Applicability(capture.state(of: .confidence)) : .applies
    return CalibrationChoice.checked(confidence, parameters, capture)
  }

  /// Without the default of `every`, which other parameters may displace.
  static func nothingLeft(
    _ stage: StageDefinition, _ capture: CaptureSummary
  ) -> CaptureWarning? {
    CommonParameters.nothingLeft(
      stage.name, withoutUsualEvery(stage.parameters), of: 0..<capture.frameCount)
  }

  private static func missingCalibration(
    _ parameters: ParameterValues, _ capture: CaptureSummary
  ) -> String? {
    let missing = capture.missingCalibration
    if missing.isEmpty || CalibrationChoice.file(parameters, deviceID: capture.deviceID) != nil {
      return nil
    }
    let what = missing.contains { $0.hasSuffix("intrinsics") } ? "no intrinsics" : "no calibration"
    return "\(what): give \(name).calibration (no \(missing.joined(separator: ", no ")))"
  }

  static func chooseFrames(_ source: ExportSource) throws -> ExportFrames {
    try PointCloudPlan.chooseFrames(source)
  }

  static func run(_ context: StageContext) throws -> StageResult {
    guard let input = context.inputs["frames"] else { throw StageDoesNotApply("no depth") }
    let plan = try PointCloudPlan(context, FrameStoreReader(input.folder))
    let confidence = try ConfidenceFrames(
      context, isNeeded: needsConfidence(context.parameters))
    let sink = try PointCloudSink(plan, context.staging)
    // The buffers are used again, as many as there are frames at a time.
    let free = Mutex<[PointCloudScratch]>([])
    context.progress.expect(plan.frames.count)
    // As many frames at a time as cores, then their points in frame order: the bytes are the same
    // for any number of workers, and memory is limited to these frames.
    var position = 0
    while position < plan.frames.count {
      try context.cancellation.check()
      let batch = Array(plan.frames[position..<min(position + context.workers, plan.frames.count)])
      let certainties = try batch.map { try confidence?.read($0) }
      let drawn = try concurrentMap(count: batch.count, budget: context.budget) { index in
        var scratch = free.withLock { $0.popLast() } ?? PointCloudScratch(plan.layout)
        try plan.draw(batch[index], confidence: certainties[index], &scratch)
        return scratch
      }
      for (frame, scratch) in zip(batch, drawn) {
        try sink.append(scratch.points, of: frame)
        free.withLock { $0.append(scratch) }
      }
      position += batch.count
      context.progress.advance(by: batch.count)
    }
    try sink.finish()
    if sink.points == 0, let nothing = nothingLeft(plan, context) {
      throw StageDoesNotApply(nothing)
    }

    var content = ExportContent(plan.source, plan.exported)
    content.names = plan.frames.map { PointCloudSink.name(of: $0, plan.files) }
    content.more["points"] = .integer(Int64(sink.points))
    content.more["axes"] = .string(plan.axes.rawValue)
    content.depth = .native
    content.cameras = .each
    content.poses = plan.axes == .world ? .recorded : .none
    content.zeroConfidences = plan.layout.hasConfidence ? confidence?.lost ?? 0 : 0
    var result = try ExportFolder(context).finish(content, readme(plan, sink.points))
    result.recorded = [
      "points": .integer(Int64(sink.points)), "usedAxes": .string(plan.axes.rawValue),
      "framesWithoutPose": .integer(Int64(plan.exported.leftOut[.noPose] ?? 0)),
    ]
    return result
  }

  /// Why no point was written. Cost: all depth is counted again.
  private static func nothingLeft(
    _ plan: PointCloudPlan, _ context: StageContext
  ) -> CaptureWarning? {
    let leftovers = LeftoverTally()
    for frame in plan.frames {
      leftovers.add(values: plan.measuredPixels(frame), isAnythingLeft: false)
    }
    return leftovers.warning(
      context.stage, "measured pixels",
      context.parameters.settings(
        ParameterDescription.list(minimumConfidence, maximumDistance, pixels, color)))
  }
}

extension ExportPLY {
  static func readme(_ plan: PointCloudPlan, _ points: Int) -> ExportReadme {
    let first = plan.frames.first.map { PointCloudSink.name(of: $0, plan.files) } ?? ""
    return ExportReadme("Point cloud") {
      if plan.files == .cloud {
        "cloud.ply: \(points) points of \(plan.frames.count) depth frames."
      } else {
        "One PLY file per depth frame, named by the canonical frame numbers of the capture; \(points) "
          + "points in total."
      }
    } opening: {
      ("plyfile.PlyData.read('\(first)')", "In Python")
      ("open3d.io.read_point_cloud('\(first)')", "With Open3D")
    } conventions: {
      "Binary, little-endian; coordinates in meters, "
        + (plan.layout.hasDoubleCoordinates
          ? "double: the world reaches more than 1 km from its origin." : "float.")
      if plan.axes == .world {
        "The axes are those of \(plan.source.worldWords)."
      } else {
        "The axes are those of the \(camera(plan)): x right, y down, z forward; every frame has its own."
      }
      if plan.layout.hasColor {
        "red, green, blue: where the color camera sees the point; points that it does not see are left out."
      } else {
        "The points have no colors."
      }
      if plan.isThroughLens {
        "Depth was measured through a lens with known coefficients, which are applied: the points lie where the "
          + "surfaces are."
      }
      if plan.layout.hasConfidence {
        "confidence: as the app recorded it, 0 where it is not known."
      }
      if plan.layout.hasFrame { "frame: the canonical frame that a point comes from." }
    } remarks: {
      if plan.axes == .camera, plan.files == .cloud {
        "Without poses, the place of each frame is not known: the cloud is one frame. With --set "
          + "export-ply.layout=frames every frame has its file."
      }
    }
  }

  private static func camera(_ plan: PointCloudPlan) -> String {
    if case .absent = plan.source.context.capture.color { return "camera that depth belongs to" }
    return "color camera as it stores its pictures"
  }
}

/// Writes the points of frames, into one growing file or into a file per frame. For one thread.
final class PointCloudSink {
  static let cloudName = "cloud.ply"

  /// Number of points written so far.
  private(set) var points = 0
  private let layout: PLYLayout
  private let staging: StagingFolder
  /// The single file, whose header is completed at the end; `nil` with a file per frame.
  private let cloud: CloudFile?

  init(_ plan: PointCloudPlan, _ staging: StagingFolder) throws {
    layout = plan.layout
    self.staging = staging
    cloud =
      plan.files == .cloud
      ? try CloudFile(staging.open(Self.cloudName), header: layout.header(points: 0))
      : nil
  }

  /// The file with the points of a frame.
  static func name(of frame: Int, _ layout: ExportPLY.Layout) -> String {
    layout == .cloud ? cloudName : FrameFileName.name(frame, "ply")
  }

  func append(_ cloudPoints: PLYPoints, of frame: Int) throws {
    points += cloudPoints.count
    if let cloud {
      try cloud.append(cloudPoints.bytes)
    } else {
      let file = try staging.create(Self.name(of: frame, .frames))
      try file.append(layout.header(points: cloudPoints.count))
      try file.append(cloudPoints.bytes)
      try file.finish()
    }
  }

  func finish() throws {
    guard let cloud else { return }
    try cloud.finish(header: layout.header(points: points))
    // Digested as a whole, because its first bytes are written last.
    try staging.adopt(Self.cloudName)
  }
}

/// A file that grows and whose header is rewritten at the end.
private final class CloudFile {
  private let path: FilePath
  private let file: FileDescriptor
  private var isOpen = true
  private var bytes: Int64 = 0
  /// The part of it whose writeback has been requested.
  private var begun: Int64 = 0

  init(_ opened: (FileDescriptor, path: FilePath), header: [UInt8]) throws(FileError) {
    (file, path) = opened
    try append(header)
  }

  deinit {
    if isOpen { try? file.close() }
  }

  func append(_ piece: [UInt8]) throws(FileError) {
    do {
      _ = try file.writeAll(piece)
    } catch {
      throw FileError(error, path: path, operation: "write")
    }
    bytes += Int64(piece.count)
    if bytes - begun >= WritebackHint.pieceBytes { beginWriting() }
  }

  private func beginWriting() {
    WritebackHint.begin(file, from: begun, bytes: bytes - begun)
    begun = bytes
  }

  /// `header` must be as long as the one before.
  func finish(header: [UInt8]) throws(FileError) {
    isOpen = false
    if bytes > begun { beginWriting() }
    do {
      _ = try file.writeAll(toAbsoluteOffset: 0, header)
      try file.close()
    } catch {
      throw FileError(error, path: path, operation: "write")
    }
  }
}
