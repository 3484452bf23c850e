import Captures
import Core
import Engine
import Media
import Processing

/// Writes a recording that Spectacular AI's SDK replays.
enum ExportSpectacular: ExportStage {
  static let name = "export-spectacular"
  static let version = 2
  static let sentence =
    "Spectacular AI recording: data.jsonl, the video, calibration.json; needs color with times, gyroscope, "
    + "acceleration."
  static let ports = [colorPort, TimeOffsetChoice.port]
  static let parameters =
    ExportParameters.selection
    + ParameterDescription.list(
      ExportParameters.timeOffset, TimeOffsetChoice.extrinsics, MotionUnits.convention,
      CommonCamera.parameter,
      ExportParameters.imuMargin) + MotionUnits.shared + CalibrationChoice.parameters

  static let needs: ExportNeeds = [
    .picture, .time, .inertial, .motionUnits,
  ]
  static let reads: Set<CapturePart> = [.imu, .color]

  /// FFmpeg writes the video.
  static func libraries(
    _ parameters: ParameterValues, _ capture: CaptureSummary
  ) -> [String: String] { LibraryVersions.ofVideo }

  static func write(
    _ frames: [Int], of source: ExportSource, to folder: ExportFolder,
    _ content: inout ExportContent
  ) throws -> ExportReadme {
    let context = source.context
    let log = SpectacularLog(source, frames)
    guard !log.gyroscope.isEmpty, !log.accelerometer.isEmpty else {
      throw StageDoesNotApply(
        log.gyroscope.isEmpty ? "no gyroscope sample" : "no acceleration with gravity")
    }
    context.progress.expect(frames.count)
    let video = try writeVideo(of: frames, source)
    try log.write("data.jsonl", context.staging)
    let median = CommonCamera(source, frames)
    try folder.write(try calibration(source, frames, median), as: "calibration.json")
    try folder.write(
      try YAMLText.document([("useStereo", .flag(false))]), as: "vio_config.yaml")
    content.names = frames.indices.map(String.init)
    content.imu = (log.sampleCount, log.cropped)
    content.more["timeShift"] = .integer(log.start?.nanoseconds ?? 0)
    content.more["video"] = .string(video)
    if let median { content.cameras = .one(median) }
    content.poses = log.hasPoses ? .recorded : .none
    content.inertial = ExportContent.Inertial(isSpecificForce: true)
    content.cameraToIMU = "imuToCamera of calibration.json"
    return readme(source, log, video, median)
  }

  private static func calibration(
    _ source: ExportSource, _ frames: [Int], _ median: CommonCamera?
  ) throws -> [UInt8] {
    var (width, height) = (source.width, source.height)
    if width == nil || height == nil, let first = frames.first {
      let picture = try source.pictures?.color(first)
      (width, height) = (picture?.width, picture?.height)
    }
    return calibration(
      median?.camera, median == nil ? nil : source.cameras.distortion,
      PictureSize(width: width ?? 0, height: height ?? 0), source.cameraFromIMU)
  }

  /// `calibration.json`: one camera, and its transform to the IMU.
  ///
  /// - Parameters:
  ///   - camera: `nil` if unknown, in which case it is not written.
  ///   - size: of the pictures.
  static func calibration(
    _ camera: PinholeCamera?, _ lens: LensDistortion?, _ size: PictureSize,
    _ cameraFromIMU: RigidTransform
  ) -> [UInt8] {
    var json = JSONStream()
    json.beginObject(lines: true)
    json.key("cameras")
    json.beginArray()
    json.beginObject(lines: true)
    if let camera {
      json.member("focalLengthX", camera.fx)
      json.member("focalLengthY", camera.fy)
      json.member("principalPointX", camera.cx)
      json.member("principalPointY", camera.cy)
    }
    json.member("imageWidth", size.width)
    json.member("imageHeight", size.height)
    json.member("model", lens == nil ? "pinhole" : "brown-conrady")
    if let lens { json.member("distortionCoefficients", lens.openCVOrder) }
    json.key("imuToCamera")
    json.value(cameraFromIMU.rowMajor, rowsOf: 4)
    json.end()
    json.end()
    json.end()
    json.endLine()
    return json.drain { $0 }
  }
}

extension ExportSpectacular {
  fileprivate static func readme(
    _ source: ExportSource, _ log: SpectacularLog, _ video: String, _ median: CommonCamera?
  ) -> ExportReadme {
    ExportReadme("Recording for Spectacular AI") {
      "data.jsonl: samples of gyroscope (rad/s) and accelerometer (m/s²)"
        + (log.hasPoses ? ", pictures and poses" : " and pictures") + " in the order of time. "
        + "Picture n is picture n of \(video), counted from 0 in display order."
      if video == "data.mp4" {
        "\(video): the capture's own coded pictures, not decoded and not encoded again."
      } else {
        "\(video): the pictures of color/ without loss (FFV1), since not all of them are here as they were "
          + "recorded."
      }
    } opening: {
      ("python3 -c \"import spectacularAI; spectacularAI.Replay('.').runReplay()\"", "Replay")
      ("sai-cli diagnose . report.html", "A report on the data")
    } conventions: {
      "Times are seconds; each is shifted by \(log.start?.nanoseconds ?? 0) nanoseconds, the smallest time of "
        + "the recording on its own clock. frames.csv has the times without the shift."
      "Accelerometer: specific force along device axes (x right, y up, z out of the screen); at rest, face "
        + "up, z is +9.8."
      "Camera axes: x right, y down, z forward; pixel centers at integers."
      if log.hasPoses { "groundTruth: camera to world, meters, \(source.worldWords)." }
      if let median { "calibration.json: \(median.sentence)" }
      if let sentence = TimeOffsetChoice.sentence(source.context) { sentence }
    } remarks: {
      if median == nil {
        "No intrinsics are known: calibration.json is without focal length and principal point; give "
          + "export-spectacular.calibration, or add them by hand."
      }
      if let hertz = InertialExport.nominalHertz(log.gyroscope.map(\.timestamp)), hertz < 100 {
        "The IMU has \(hertz) samples per second. Inertial odometry needs 100 or more; expect it to fail or "
          + "to drift."
      }
      if let remark = TimeOffsetChoice.readoutRemark(source.context) { remark }
      if let remark = IMUCrop.remark(log.cropped, source.context.parameters) { remark }
    }
  }
}

/// Writes `data.jsonl`: one JSON object per line, in time order; at equal times sensors come first,
/// then pictures, then their poses.
struct SpectacularLog {
  /// Samples in time order.
  let gyroscope: [IMUSample]
  let accelerometer: [IMUSample]
  let times: [Timestamp]
  /// By picture.
  let poses: [Pose?]

  /// Number of samples left out because they are too far from the exported frames.
  let cropped: Int

  init(_ source: ExportSource, _ frames: [Int]) {
    let imu = MotionUnits.samples(source.context)
    var gyroscope = (imu?.angularVelocity ?? []).filter(Self.isFinite)
    var accelerometer =
      (imu.map { $0.specificForce(MotionUnits.convention($0, source.context.parameters)) } ?? [])
      .filter(Self.isFinite)
    let crop = IMUCrop(source, frames)
    cropped =
      (crop?.crop(&gyroscope, time: \.timestamp) ?? 0)
      + (crop?.crop(&accelerometer, time: \.timestamp) ?? 0)
    self.gyroscope = gyroscope
    self.accelerometer = accelerometer
    times = frames.compactMap(source.time)
    poses = frames.map(source.pose)
  }

  /// The smallest written time, which is subtracted from all.
  var start: Timestamp? {
    [gyroscope.first?.timestamp, accelerometer.first?.timestamp, times.first].compactMap(\.self)
      .min()
  }

  /// Whether any picture has a pose.
  var hasPoses: Bool { poses.contains { $0 != nil } }

  var sampleCount: Int { gyroscope.count + accelerometer.count }

  func write(_ name: String, _ staging: StagingFolder) throws {
    var file = try LineFile(name, staging)
    guard let start else { return try file.finish() }
    var places = (gyroscope: 0, accelerometer: 0, picture: 0)
    while true {
      let next = [
        places.gyroscope < gyroscope.count ? gyroscope[places.gyroscope].timestamp : nil,
        places.accelerometer < accelerometer.count
          ? accelerometer[places.accelerometer].timestamp : nil,
        places.picture < times.count ? times[places.picture] : nil,
      ]
      guard let time = next.compactMap(\.self).min() else { break }
      let seconds = Timestamp(nanoseconds: time - start).decimalSeconds
      if next[0] == time {
        try file.line(Self.line("gyroscope", gyroscope[places.gyroscope], seconds))
        places.gyroscope += 1
      } else if next[1] == time {
        try file.line(Self.line("accelerometer", accelerometer[places.accelerometer], seconds))
        places.accelerometer += 1
      } else {
        let number = places.picture
        try file.line(
          #"{"number":\#(number),"time":\#(seconds),"frames":[{"cameraInd":0,"time":\#(seconds)}]}"#
        )
        if let pose = poses[number] { try file.line(Self.line(pose, seconds)) }
        places.picture += 1
      }
    }
    try file.finish()
  }

  private static func isFinite(_ sample: IMUSample) -> Bool {
    sample.x.isFinite && sample.y.isFinite && sample.z.isFinite
  }

  private static func line(_ sensor: String, _ sample: IMUSample, _ seconds: String) -> String {
    let values = [sample.x, sample.y, sample.z].map(\.shortText).joined(separator: ",")
    return
      #"{"sensor":{"type":"\#(sensor)","values":[\#(values)]},"time":\#(seconds)}"#
  }

  /// Camera to world.
  private static func line(_ pose: Pose, _ seconds: String) -> String {
    let p = pose.position.map(\.shortText)
    let q = pose.orientation
    let (w, x, y, z) = (
      q.w.shortText, q.x.shortText, q.y.shortText,
      q.z.shortText
    )
    return #"{"groundTruth":{"position":{"x":\#(p[0]),"y":\#(p[1]),"z":\#(p[2])},"#
      + #""orientation":{"w":\#(w),"x":\#(x),"y":\#(y),"z":\#(z)}},"time":\#(seconds)}"#
  }
}
