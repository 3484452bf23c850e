import Captures
import Core
import Engine
import Media
import Processing
import Synchronization
import Yams

/// Writes a ROS 2 bag: everything of a capture that has a time.
enum ExportMCAP: ExportStage {
  static let name = "export-mcap"
  static let version = 3
  /// Version of the bag alone, which states it, so that its bytes do not change when only texts
  /// next to it do.
  private static let bagVersion = 1
  static let sentence =
    "ROS 2 bag in MCAP (ros2 bag, Foxglove, rerun): pictures, depth, poses, IMU, transforms; needs anything "
    + "with a time."
  static let ports = [colorPort, alignedPort, TimeOffsetChoice.port]
  static let parameters =
    ExportParameters.selection
    + ParameterDescription.list(
      compression, raw, ExportParameters.clock, ExportParameters.timeOffset,
      TimeOffsetChoice.extrinsics, noise,
      MotionUnits.convention, ExportParameters.personal, ExportParameters.imuMargin)
    + MotionUnits.shared + CalibrationChoice.parameters

  private static let compression = Parameter(
    "compression", .choice(), default: MCAPCompression.none,
    "Of chunks. PNG and JPEG do not shrink; depth and raw pictures do.")
  private static let noise = ExportParameters.noiseFile.saying(
    "Kalibr's imu.yaml: the noise densities squared, times update_rate, are the covariances of /imu0."
  )
  static let raw = Parameter(
    "raw", .flag, default: false,
    "Color as pixels (rgb8, /cam0/image_raw) in place of the files of color/.")

  static let needs: ExportNeeds = []
  static let depthRule = DepthChoice.Rule.aligned
  static let reads: Set<CapturePart> = [.imu, .geo]

  static func libraries(
    _ parameters: ParameterValues, _ capture: CaptureSummary
  ) -> [String: String] {
    switch parameters[compression] {
    case .none: [:]
    case .lz4: LibraryVersions.lz4
    case .zstd: LibraryVersions.zstd
    }
  }

  static func connects(
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

  static func chooseFrames(_ source: ExportSource) throws -> ExportFrames {
    try BagContent.frames(source)
  }

  static func run(_ context: StageContext) throws -> StageResult {
    let source = try source(context)
    let content = try BagContent(source)
    let folder = ExportFolder(context)
    let file = try folder.create("bag/bag.mcap")
    let bag = Mutex(
      try BagWriter(
        content, file, library: "scanmill \(name) \(bagVersion)", context.parameters[compression],
        metadata: metadata(content)))
    try write(content, bag, context)
    let summary = try bag.withLock { try $0.finish() }
    try folder.write(
      try metadata(summary, file: "bag.mcap"), as: "bag/metadata.yaml")
    return try folder.finish(stated(content, summary), readme(content, summary))
  }

  /// Writes the events in time order. Pictures are read and decoded on all cores while earlier ones
  /// are written; at most two per core are in memory.
  private static func write(
    _ content: BagContent, _ bag: borrowing Mutex<BagWriter>, _ context: StageContext
  ) throws {
    let isRaw = context.parameters[raw]
    var timeline = content.timeline
    context.progress.expect(timeline.colors.count + timeline.depths.count)
    var ready: (entries: [BagTimeline.Entry], pictures: [BagPicture]) = ([], [])
    repeat {
      try context.cancellation.check()
      let entries = timeline.batch(pictures: context.workers)
      let events = entries.filter(\.event.hasPicture)
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
    _ entry: BagTimeline.Entry, _ source: ExportSource, isRaw: Bool
  ) throws -> BagPicture? {
    switch entry.event {
    case .color(let frame):
      try source.pictures.map { try BagPicture.color($0, frame, entry.time, isRaw: isRaw) }
    case .depth(let frame): try source.depth.map { try BagPicture.depth($0, frame, entry.time) }
    case .pose, .imu, .fix: nil
    }
  }

  /// Metadata of the file about the capture.
  private static func metadata(_ content: BagContent) -> [(key: String, value: String)] {
    let capture = content.source.context.capture
    var entries = [("capture", capture.id), ("exporter", "scanmill \(name) \(bagVersion)")]
    let cameras = content.frames.frames.compactMap(content.camera)
    if let median = PinholeCamera(medianOf: cameras) {
      entries.append(("calibration", calibration(median, content)))
    }
    if content.source.context.parameters[ExportParameters.personal] {
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
    json.member("width", camera.width)
    json.member("height", camera.height)
    json.member("fx", camera.fx)
    json.member("fy", camera.fy)
    json.member("cx", camera.cx)
    json.member("cy", camera.cy)
    json.member("distortion", content.source.cameras.distortion?.openCVOrder ?? [])
    json.end()
    return json.drain { String(decoding: $0, as: UTF8.self) }
  }

  private static func stated(
    _ content: BagContent, _ summary: MCAPSummary
  ) -> ExportContent {
    var stated = content.stated
    stated.names = content.frames.frames.map {
      content.source.time($0).map { String($0.nanoseconds) } ?? ""
    }
    stated.imu = content.imu.map { ($0.rows.count, $0.leftOut) }
    stated.more["topics"] = .object(
      Dictionary(
        summary.channels.map {
          ($0.channel.topic, .integer(Int64(clamping: $0.messages)))
        }
      ) { first, _ in first })
    if !content.timeline.poses.isEmpty {
      switch content.source.world {
      case .yUp: stated.more["worldUp"] = .string("y")
      case .zUp: stated.more["worldUp"] = .string("z")
      case .firstCamera: break
      }
    }
    if content.source.depth != nil {
      stated.more["depthLeftOut"] = content.depthLeftOut.json
    }
    return stated
  }
}

extension ExportMCAP {
  /// Applies to captures with anything that has a time: a picture, a sample, a pose. What exists
  /// must be readable.
  static func applicability(
    _ parameters: ParameterValues, _ capture: CaptureSummary
  ) -> Applicability {
    var read: [CapturePart] = [.frames, .color, .poses, .intrinsics, .imu]
    if parameters[ExportParameters.personal] { read.append(.geo) }
    for part in read {
      if case .unreadable(let why) = capture.state(of: part) { return .unreadable(why) }
    }
    if let reason = MotionUnits.obstacle(capture.exports.doubtfulSensors ?? [], parameters) {
      return .notApplicable(reason)
    }
    let reasons = lacking(parameters, capture, capture.exports)
    guard reasons.isEmpty else {
      return .notApplicable("nothing with a time: " + reasons.joined(separator: ", "))
    }
    return CalibrationChoice.checked(.applies, parameters, capture)
  }

  /// A log without frames still has its samples.
  static func nothingLeft(
    _ stage: StageDefinition, _ capture: CaptureSummary
  ) -> CaptureWarning? { nil }

  /// Missing streams; empty as soon as anything has a time.
  private static func lacking(
    _ parameters: ParameterValues, _ capture: CaptureSummary, _ facts: ExportFacts
  ) -> [String] {
    if facts.timedPictures > 0 { return [] }
    var reasons: [String] = []
    if case .absent = capture.state(of: .color) {
      // Frames are then those of depth or poses.
      let isThere = [CapturePart.depth, .poses].contains { capture.state(of: $0) == .present }
      if isThere, capture.state(of: .frames) == .present { return [] }
      reasons.append("no color")
    } else {
      reasons.append("no picture has a time")
    }
    guard let missing = IMUStream.missing(Set(facts.samples.keys)) else { return [] }
    reasons.append(missing)
    if parameters[ExportParameters.personal], facts.hasPosition { return [] }
    return reasons
  }
}

extension ExportMCAP {
  /// `metadata.yaml` of a ROS 2 bag.
  fileprivate static func metadata(
    _ summary: MCAPSummary, file: String
  ) throws -> String {
    func nanoseconds(_ name: String, _ count: UInt64) -> Node {
      .members([(name, .integer(count))])
    }
    let times = summary.times ?? (0, 0)
    let start = nanoseconds("nanoseconds_since_epoch", times.first)
    let duration = nanoseconds("nanoseconds", times.last - times.first)
    let messages = Node.integer(summary.messages)
    let topics = summary.channels.map { channel, messages in
      Node.members([
        (
          "topic_metadata",
          .members([
            ("name", .text(channel.topic)), ("type", .text(channel.type)),
            ("serialization_format", .text("cdr")),
            ("offered_qos_profiles", .quoted(channel.qualityOfService)),
          ])
        ), ("message_count", .integer(messages)),
      ])
    }
    let information = Node.members([
      ("version", .integer(5)),
      ("storage_identifier", .text("mcap")),
      ("duration", duration),
      ("starting_time", start),
      ("message_count", messages),
      ("topics_with_message_count", .list(topics)),
      ("compression_format", .quoted("")),
      ("compression_mode", .quoted("")),
      ("relative_file_paths", .list([.text(file)])),
      (
        "files",
        .list([
          .members([
            ("path", .text(file)), ("starting_time", start), ("duration", duration),
            ("message_count", messages),
          ])
        ])
      ),
    ])
    return try YAMLText.document([("rosbag2_bagfile_information", information)])
  }
}

extension ExportMCAP {
  fileprivate static func readme(
    _ content: BagContent, _ summary: MCAPSummary
  ) -> ExportReadme {
    let source = content.source
    let timeline = content.timeline
    return ExportReadme("ROS 2 bag (MCAP)") {
      "bag/ is the bag; bag/bag.mcap by itself also opens in viewers. Its topics:"
      for (channel, messages) in summary.channels {
        "  \(channel.topic), \(channel.type), \(Plural.text(messages, "message"))"
      }
    } opening: {
      ("ros2 bag play bag", "ROS 2")
      ("rerun bag/bag.mcap", "rerun; Foxglove, Lichtblick and PlotJuggler open the same file")
      ("rosbags-convert --src bag --dst bag.bag", "A ROS 1 bag, by the package rosbags")
    } conventions: {
      (source.context.parameters[ExportParameters.clock] == .unix
        ? "Stamps are times since 1970. "
        : "Stamps are the capture's own clock, not the time of day: viewers that show 1970 are right. ")
        + "Log time, publish time and header.stamp are the same."
      if !(timeline.colors + timeline.depths + timeline.poses).isEmpty {
        "cam0 has OpenCV axes (x right, y down, z forward), which are ROS's optical axes; pixel centers at "
          + "integers."
      }
      if !timeline.poses.isEmpty {
        "/tf and /pose: cam0 in world, \(source.worldWords), meters. " + fixedFrame(source.world)
      }
      if !timeline.imu.isEmpty {
        "/imu0: rad/s and m/s² along device axes (x right, y up, z out of the screen); specific force: at "
          + "rest, face up, z is +9.8. Orientation is not known: its covariance begins with -1."
          + (content.variances == (0, 0)
            ? ""
            : " The other covariances are the squares of the noise densities that were given, times the rate of the "
              + "samples.")
      }
      if !timeline.depths.isEmpty {
        "/depth0/image_raw lies on the color grid: 16UC1, millimeters along the optical axis, 0 = none; at "
          + "the time of the depth picture."
      }
      if !timeline.colors.isEmpty, let sentence = TimeOffsetChoice.sentence(source.context) {
        sentence
      }
      if !content.fixes.isEmpty {
        "/fix: the altitude is NaN"
          + (content.fixes.contains { $0.altitude != nil }
            ? ", because the message counts it from the ellipsoid and the phone from sea level"
            : "")
          + ". The covariance is the accuracy squared, east and north; the recorder provides no more."
      }
    } remarks: {
      if let cropped = content.imu?.cropped,
        let remark = IMUCrop.remark(cropped, source.context.parameters)
      {
        remark
      }
      if !content.hasCamera {
        "The video's display matrix mirrors its pictures: poses, intrinsics, depth and the place of the IMU "
          + "do not belong to such pictures and are not here."
      }
      if source.pictures == nil { "The capture has no color pictures." }
      if source.context.capture.depth.value != nil, source.depth == nil, content.hasCamera {
        "Depth is not here: the calibration that brings it to the color grid is incomplete."
      }
      for (reason, count) in content.depthLeftOut.sorted(by: { $0.key.rawValue < $1.key.rawValue })
      {
        "Frames without depth: \(count) (\(reason.rawValue))."
      }
      if source.pictures != nil, source.cameras.isEmpty {
        "No intrinsics: there is no camera_info."
      }
    }
  }

  /// Which frame viewers are to hold fixed.
  private static func fixedFrame(_ world: PoseWorld) -> String {
    switch world {
    case .yUp: "/tf_static turns it into map, where z is up: choose map as the fixed frame."
    case .zUp: "map is the same."
    case .firstCamera: "There is no map: choose world as the fixed frame."
    }
  }
}
