import Captures
import Media
import Core
import Engine
import Processing
import Synchronization

/// Writes a ROS 2 bag: everything of a capture that has a time.
public enum ExportMCAP: ExportStage {
  public static let name = "export-mcap"
  public static let version = 2
  /// Version of the bag alone, which states it, so that its bytes do not change when only texts
  /// next to it do.
  private static let bagVersion = 1
  public static let sentence =
    "ROS 2 bag in MCAP (ros2 bag, Foxglove, rerun): pictures, depth, poses, IMU, transforms; needs anything "
    + "with a time."
  public static let ports = [colorPort, alignedPort, TimeOffsetChoice.port]
  public static let parameters: [ParameterDescription] =
    ExportParameters.selection
    + [
      ParameterDescription(
        "compression", .choice(MCAPCompression.allCases.map(\.rawValue)),
        default: .text(MCAPCompression.none.rawValue),
        "Of chunks. PNG and JPEG do not shrink; depth and raw pictures do."),
      ParameterDescription(
        "raw", .flag, default: .flag(false),
        "Color as pixels (rgb8, /cam0/image_raw) in place of the files of color/."),
      ExportParameters.timeOffset, ExportParameters.convention, ExportParameters.personal,
      ExportParameters.imuMargin,
    ] + MotionUnits.shared + CalibrationChoice.parameters

  package static let needs: ExportNeeds = []
  package static let depthRule = DepthChoice.Rule.aligned
  package static let reads: Set<CapturePart> = [.imu, .geo]

  public static func libraries(
    _ parameters: ParameterValues, _ capture: CaptureSummary
  ) -> [String: String] {
    switch compression(parameters) {
    case .none: [:]
    case .lz4: LibraryVersions.lz4
    case .zstd: LibraryVersions.zstd
    }
  }

  public static func connects(
    _ port: String, _ parameters: ParameterValues, _ capture: CaptureSummary
  ) -> Bool {
    switch port {
    case "color":
      if case .absent = capture.state(of: .color) { false } else { true }
    // Depth cannot be aligned to a mirrored picture.
    case "aligned":
      !capture.exports.isMirrored
        && DepthChoice(depthRule, parameters, capture) == .aligned
    case TimeOffsetChoice.portName: TimeOffsetChoice.isAuto(parameters)
    default: true
    }
  }

  package static func chooseFrames(_ source: ExportSource) throws -> ExportFrames {
    try BagContent.frames(source)
  }

  public static func run(_ context: StageContext) throws -> StageResult {
    let source = try source(context)
    let content = try BagContent(source)
    let folder = ExportFolder(context)
    let file = try folder.create("bag/bag.mcap")
    let bag = Mutex(
      try BagWriter(
        content, file, library: "scanmill \(name) \(bagVersion)", compression(context.parameters),
        metadata: metadata(content)))
    try write(content, bag, context)
    let statistics = try bag.withLock { try $0.finish() }
    try folder.write(
      try BagMetadata.text(statistics, file: "bag.mcap"), as: "bag/metadata.yaml")
    return try folder.finish(
      manifest(content, statistics), BagReadme.readme(content, statistics), content.stated)
  }

  /// Writes the events in time order. Pictures are read and decoded on all cores while earlier ones
  /// are written; at most two per core are in memory.
  private static func write(
    _ content: BagContent, _ bag: borrowing Mutex<BagWriter>, _ context: StageContext
  ) throws {
    let isRaw = context.parameters.flag("raw")
    var timeline = content.timeline
    context.progress.expect(timeline.colors.count + timeline.depths.count)
    var ready: (entries: [BagTimeline.Entry], pictures: [BagPicture]) = ([], [])
    repeat {
      try context.cancellation.check()
      let entries = timeline.batch(pictures: context.workers)
      let events = entries.map(\.event).filter(\.hasPicture)
      let waiting = ready
      let pictures = try concurrentMap(count: events.count + 1, budget: context.budget) { job in
        guard job > 0 else {
          try bag.withLock { try $0.write(waiting.entries, waiting.pictures) }
          return BagPicture?.none
        }
        return try picture(events[job - 1], content.source, isRaw: isRaw)
      }
      context.progress.advance(by: waiting.pictures.count)
      context.progress.showLife()
      ready = (entries, pictures.compactMap(\.self))
    } while !ready.entries.isEmpty
  }

  private static func picture(
    _ event: BagTimeline.Event, _ source: ExportSource, isRaw: Bool
  ) throws -> BagPicture? {
    switch event {
    case .color(let frame):
      try source.pictures.map { try BagPicture.color($0, frame, isRaw: isRaw) }
    case .depth(let frame): try source.depth.map { try BagPicture.depth($0, frame) }
    case .pose, .imu, .fix: nil
    }
  }

  private static func compression(_ parameters: ParameterValues) -> MCAPCompression {
    parameters.text("compression").flatMap(MCAPCompression.init) ?? .none
  }

  /// Metadata of the file about the capture.
  private static func metadata(_ content: BagContent) -> [(key: String, value: String)] {
    let capture = content.source.context.capture
    var entries = [("capture", capture.id), ("exporter", "scanmill \(name) \(bagVersion)")]
    let cameras = content.frames.frames.compactMap(content.camera)
    if let median = MedianCamera(cameras) {
      entries.append(("calibration", calibration(median.camera, content)))
    }
    if content.source.context.parameters.flag("personal") {
      entries += [("device", capture.device.name), ("user", capture.user)].compactMap {
        name, text in text.map { (name, $0) }
      }
    }
    return entries.map { (key: $0.0, value: $0.1) }
  }

  /// The median camera of all frames and its lens, as JSON.
  private static func calibration(_ camera: PinholeCamera, _ content: BagContent) -> String {
    var json = JSONStream()
    json.beginObject()
    json.key("width")
    json.value(camera.width)
    json.key("height")
    json.value(camera.height)
    for (name, value) in [
      ("fx", camera.fx), ("fy", camera.fy), ("cx", camera.cx), ("cy", camera.cy),
    ] {
      json.key(name)
      json.value(value)
    }
    json.key("distortion")
    json.value(content.source.cameras.distortion?.openCVOrder ?? [])
    json.end()
    return json.drain { String(decoding: $0, as: UTF8.self) }
  }

  private static func manifest(
    _ content: BagContent, _ statistics: MCAPWriter.Statistics
  ) -> ExportManifest {
    var manifest = ExportManifest(frames: content.frames)
    manifest.names = content.frames.frames.map {
      content.source.time($0).map { String($0.nanoseconds) } ?? ""
    }
    manifest.imu = content.imu.map { ($0.rows.count, $0.leftOut) }
    manifest.more["topics"] = .object(
      Dictionary(
        statistics.channels.map {
          ($0.channel.topic, .integer(Int64(clamping: $0.messages)))
        }
      ) { first, _ in first })
    if !content.timeline.poses.isEmpty {
      switch content.source.world {
      case .yUp: manifest.more["worldUp"] = .string("y")
      case .zUp: manifest.more["worldUp"] = .string("z")
      case .firstCamera: break
      }
    }
    if content.source.depth != nil {
      manifest.more["depthLeftOut"] = .object(
        Dictionary(
          uniqueKeysWithValues: content.depthLeftOut.map {
            ($0.key.rawValue, .integer(Int64($0.value)))
          }))
    }
    return manifest
  }
}
