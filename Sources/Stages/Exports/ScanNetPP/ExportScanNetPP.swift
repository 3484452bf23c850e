import Captures
import Core
import Engine
import Media

/// Writes the `iphone` folder of a ScanNet++ scene for its toolbox.
enum ExportScanNetPP: ExportStage {
  static let name = "export-scannetpp"
  static let version = 2
  static let sentence =
    "ScanNet++ scene: iphone/rgb, iphone/depth, pose_intrinsic_imu.json; needs color, depth, poses, "
    + "intrinsics."
  static let ports = [colorPort, jpegPort, depthPort, alignedPort]
  static let parameters =
    ExportParameters.selection + ExportParameters.pictures(default: .jpeg)
    + ParameterDescription.list(
      ExportParameters.depth, ExportParameters.share, ExportParameters.compression,
      CommonCamera.parameterPerFrame) + MotionUnits.shared + CalibrationChoice.parameters

  static let needs: ExportNeeds = [.picture, .depth, .pose, .intrinsics, .motionUnits]
  static let depthRule = DepthChoice.Rule.chosen
  static let reads: Set<CapturePart> = [.imu]

  static func write(
    _ frames: [Int], of source: ExportSource, to folder: ExportFolder,
    _ content: inout ExportContent
  ) throws -> ExportReadme {
    if let error = source.context.capture.imu.error { throw error }
    guard let pictures = source.pictures, let depth = source.depth else {
      throw StageDoesNotApply("no frame is left")
    }
    let common = source.cameras(of: frames).common
    try checkDepth(source, frames.compactMap { common?.camera ?? source.cameras[$0] })
    content.names = try folder.writePictures(
      pictures, frames, of: source, as: "iphone/rgb/frame_")
    try folder.sharePictures(depth, frames, as: "iphone/depth/frame_")
    let document = ScanNetPPDocument(source, common: common?.camera)
    let imu = try document.write(frames, to: folder.create(ScanNetPPDocument.name))
    content.imu = imu
    content.cameras = common.map { .one($0) } ?? .each
    content.poses = .recorded
    if let imu, imu.samples > 0 {
      content.inertial = ExportContent.Inertial(isNearest: true)
    }
    return readme(source, hasIMU: content.inertial != nil, common)
  }

  /// Largest distance between a point's place in the depth picture and the one by the scaled camera of
  /// color, pixels of depth.
  private static let usualOffset = 0.5

  /// The toolbox uses one camera and scales its intrinsics to depth by the ratio of the widths.
  private static func checkDepth(_ source: ExportSource, _ colors: [PinholeCamera]) throws {
    guard source.depthChoice == .native, let depth = source.depthSize, let width = source.width,
      let height = source.height
    else { return }
    let remedy = "set \(source.context.stage).depth to aligned"
    if source.cameras.calibration?.registered != true || !source.colorFromDepth.isIdentity {
      throw StageFailure(
        "the depth camera is not the color camera, and the format cannot express their relative "
          + "pose: \(remedy)")
    }
    let offPixels =
      (Double(height) * Double(depth.width) / Double(width) - Double(depth.height)).magnitude
    if offPixels >= 1 {
      let reason =
        "depth of \(depth.width)x\(depth.height) has another aspect than color of \(width)x\(height), and "
        + "the toolbox scales both axes by the widths: \(remedy)"
      // A run of all exports must not fail because of a depth that was not asked for.
      guard source.context.parameters[ExportParameters.depth] == .native else {
        throw StageDoesNotApply(reason)
      }
      throw StageFailure(reason)
    }
    let offset = colors.reduce(0) { worst, color in
      guard let own = source.depthCamera(color: color) else { return worst }
      let scaled = color.scaled(toWidth: depth.width, height: depth.height)
      return max(worst, own.largestOffset(from: scaled))
    }
    if offset > usualOffset {
      throw StageFailure(
        "the depth pictures are of another camera than color, up to \(ExportReadme.rounded(offset)) pixels of depth "
          + "apart, and the format states one for both: give depth.undistort and color.undistort the same alpha, or "
          + remedy, cause: .input)
    }
  }

  private static func readme(
    _ source: ExportSource, hasIMU: Bool, _ common: CommonCamera?
  ) -> ExportReadme {
    ExportReadme("iPhone part of a ScanNet++ scene") {
      "This folder stands for a scene: iphone/rgb and iphone/depth hold the frames under their canonical "
        + "numbers, \(ScanNetPPDocument.name) their poses and intrinsics. Depth is 16-bit PNG, millimeters "
        + "along the optical axis, 0 = none."
    } opening: {
      (
        "python -m iphone.arkit_pcl --data_root OUTPUT/ID --scene_id export-scannetpp",
        "With the toolbox, OUTPUT/ID being the folder that this one lies in"
      )
    } conventions: {
      "aligned_pose: camera to world, 4x4 by rows, meters, \(source.worldWords). Camera axes: x right, y "
        + "down, z forward, already; nothing is to be negated."
      "intrinsic: 3x3 by rows, pixels of the color picture, pixel centers at integers; "
        + (common.map { "one for all frames, \($0.words)." } ?? "each frame has its own.")
      "timestamp: seconds on the capture's clock; a frame without time has none."
      if source.depthChoice == .native {
        "Depth is on the depth camera's grid, which covers the same view: the toolbox scales the "
          + "intrinsics by depth width / color width."
      } else {
        "Depth is on the color grid and has the size of the color pictures."
      }
      if hasIMU {
        "imu: the sample nearest to the frame, at most 50 ms away, with the signs that were recorded: "
          + "rotate_rate in rad/s, acceleration (without gravity) and gravity in g."
      }
    } remarks: {
    }
  }
}

/// Writes `pose_intrinsic_imu.json`, an object with one member per frame, incrementally.
struct ScanNetPPDocument {
  static let name = "iphone/pose_intrinsic_imu.json"
  /// Largest time between a frame and its sample.
  static let windowNanoseconds: Int64 = 50_000_000

  private let source: ExportSource
  /// The common camera; `nil` if each frame has its own.
  private let common: PinholeCamera?
  private var sensors: [(key: String, isInG: Bool, samples: [IMUSample])] = []

  init(_ source: ExportSource, common: PinholeCamera?) {
    self.source = source
    self.common = common
    guard let imu = MotionUnits.samples(source.context), source.context.capture.framesShareIMUClock
    else { return }
    let rate = imu.samples(of: "rotationRate") ?? imu.samples(of: "gyroscope")
    if let rate { sensors.append(("rotate_rate", false, rate)) }
    for (key, sensor) in [("acceleration", "userAcceleration"), ("gravity", "gravity")] {
      if let samples = imu.samples(of: sensor) { sensors.append((key, true, samples)) }
    }
  }

  /// - Returns: numbers of written and left out samples; `nil` without sensors.
  func write(_ frames: [Int], to file: StagedFile) throws -> (samples: Int, leftOut: Int)? {
    var json = JSONStream()
    var used: Set<Timestamp> = []
    json.beginObject(lines: true)
    for frame in frames {
      guard let pose = source.pose(frame), let camera = common ?? source.cameras[frame] else {
        continue
      }
      json.key("frame_" + frame.padded(6))
      json.beginObject()
      if let time = source.time(frame) {
        json.key("timestamp")
        json.value(decimal: time.decimalSeconds)
      }
      json.key("aligned_pose")
      json.value(pose.worldFromCamera.rowMajor, rowsOf: 4)
      json.key("intrinsic")
      json.value(camera.rowMajor3x3, rowsOf: 3)
      if let time = source.time(frame) { writeIMU(at: time, &json, &used) }
      json.end()
      if json.pendingByteCount > 1 << 20 { try json.drain { try file.append($0) } }
    }
    json.end()
    json.endLine()
    try json.drain { try file.append($0) }
    try file.finish()
    return sensors.first.map { (used.count, $0.samples.count - used.count) }
  }

  /// Writes nothing without a sample nearby.
  private func writeIMU(
    at time: Timestamp, _ json: inout JSONStream, _ used: inout Set<Timestamp>
  ) {
    let near = sensors.compactMap { sensor in
      Self.nearest(to: time, in: sensor.samples).map { (sensor.key, sensor.isInG, $0) }
    }
    guard let first = near.first else { return }
    if first.0 == sensors.first?.key { used.insert(first.2.timestamp) }
    json.key("imu")
    json.beginObject()
    for (key, isInG, sample) in near {
      json.member(
        key,
        [sample.x, sample.y, sample.z].map {
          isInG ? SpecificForce.g(fromMetersPerSecondSquared: $0) : $0
        })
    }
    json.end()
  }

  /// The nearest sample; of two at the same distance the earlier one.
  static func nearest(to time: Timestamp, in samples: [IMUSample]) -> IMUSample? {
    let low = samples.partitioningIndex { $0.timestamp >= time }
    let around = [low - 1, low].filter(samples.indices.contains).map { samples[$0] }
    let nearest = around.min {
      ($0.timestamp - time).magnitude < ($1.timestamp - time).magnitude
    }
    guard let nearest, (nearest.timestamp - time).magnitude <= windowNanoseconds.magnitude else {
      return nil
    }
    return nearest
  }
}
