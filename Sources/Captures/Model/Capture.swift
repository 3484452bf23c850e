import Geometry
import SystemPackage

/// One recording, described without reference to the app that made it.
///
/// Opening a capture maps files and reads side tables; pictures stay where they are until a stage asks
/// for them. Everything proportional to the recording's length that is held here is a table.
public struct Capture: Sendable {
  public var id: String
  public var family: CaptureFamily
  /// What the family says of all its captures, once one is opened through a registry.
  public var familyDescription: FamilyDescription
  public var generation: String
  /// The folder that holds the files.
  public var folder: FilePath
  public var device = DeviceInfo()
  public var scene = SceneInfo()
  /// Who recorded it, where the app asks. Personal data.
  public var user: String?
  /// Wall-clock start as far as it is known: `2017-03-14` or `2026-01-24T10:00:00Z`.
  public var recordedAt: String?
  public var clock: CaptureClock
  /// The canonical frames, index = position.
  public var frames: [CaptureFrame] = []
  public var color: StreamState<ColorStream> = .absent("the family records no color")
  public var depth: StreamState<DepthStream> = .absent("the family records no depth")
  public var confidence: StreamState<ConfidenceStream> = .absent("the family records no confidence")
  public var imu: StreamState<IMUStream> = .absent("the family records no IMU")
  public var poses: StreamState<PoseStream> = .absent("the family records no poses")
  public var intrinsics: StreamState<[IntrinsicsRow]> = .absent("no intrinsics are recorded")
  public var cameraSettings: StreamState<CameraSettingsStream> =
    .absent("the family records no camera settings")
  public var geo: StreamState<GeoStream> = .absent("the family records no positions")
  /// Why the file that tells the canonical frames cannot be read. Stages that place something in time
  /// by frames fail then; `frames` is what the pictures alone tell.
  public var framesProblem: CaptureError?
  /// Whether frame times and IMU times share one clock; without it there are no per-frame IMU tables.
  public var framesShareIMUClock = true
  /// Whether a frame without depth picture has no depth time either; `false` where tables show the times
  /// that the files hold.
  public var depthTimesNeedPictures = true
  /// Whether the family keeps a small preview picture beside its media.
  public var hasThumbnail = false
  /// What is known of the two cameras; `nil` where there is no depth.
  public var alignment: DepthCalibration?
  /// Why a file of a part cannot be opened although others of the part can be read: what they hold is in
  /// the part, and stages that read it fail.
  public var partProblems: [CapturePart: CaptureError] = [:]
  /// Why files with calibration that are there cannot be read.
  public var calibrationProblem: CaptureError?
  public var warnings: [CaptureWarning] = []
  /// How much of each stream is there, beside what the capture says that there was.
  public var claims = StreamClaims()
  /// The files each part was read from: what a stage that reads the part depends on.
  public var files: [CapturePart: [FilePath]] = [:]
  /// Whether the upload looks whole, and what is missing.
  public var completeness = UploadCompleteness()

  public init(
    id: String, family: CaptureFamily, generation: String, folder: FilePath, clock: CaptureClock
  ) {
    self.id = id
    self.family = family
    familyDescription = FamilyDescription(unknown: family)
    self.generation = generation
    self.folder = folder
    self.clock = clock
  }
}

extension Capture {
  /// The streams that are there and cannot be read.
  public var errors: [(stream: String, error: CaptureError)] {
    let whole: [(stream: String, error: CaptureError)] = [
      ("color", color.error), ("depth", depth.error), ("confidence", confidence.error),
      ("imu", imu.error), ("poses", poses.error), ("intrinsics", intrinsics.error),
      ("cameraSettings", cameraSettings.error), ("geo", geo.error), ("frames", framesProblem),
    ].compactMap { stream, error in error.map { (stream, $0) } }
    let inPart = CapturePart.allCases.compactMap { part in
      partProblems[part].map { (stream: part.rawValue, error: $0) }
    }
    return whole + inPart.filter { problem in !whole.contains { $0.stream == problem.stream } }
  }

  /// One warning for each file of the capture that is a link out of its folder.
  mutating func warn(ofLinksOutside names: [String]) {
    warnings += names.map {
      CaptureWarning(
        .pathOutsideCapture, $0, "\($0) is a link out of the capture's folder; not followed")
    }
  }
}

/// The parts of a capture that stages read, each with files of its own.
public enum CapturePart: String, Codable, CaseIterable, Sendable {
  case color, depth, confidence, imu, poses, intrinsics, cameraSettings, geo
  /// Canonical frames and their times.
  case frames
  /// Cameras and extrinsics.
  case calibration
  /// The app's own small preview picture.
  case thumbnail
}

/// The canonical frame: one index names color, depth, confidence, aligned and the rows of the tables.
public struct CaptureFrame: Hashable, Sendable {
  /// On the capture's clock; `nil` = unknown.
  public var timestamp: Timestamp?
  public var colorTimestamp: Timestamp?
  public var depthTimestamp: Timestamp?

  public init(
    timestamp: Timestamp? = nil, colorTimestamp: Timestamp? = nil, depthTimestamp: Timestamp? = nil
  ) {
    self.timestamp = timestamp
    self.colorTimestamp = colorTimestamp
    self.depthTimestamp = depthTimestamp
  }
}

public struct CaptureClock: Hashable, Sendable, Codable {
  public enum Base: String, Codable, Sendable {
    case uptime, unix, nominal, video
    case recordingStart = "recording-start"
  }

  public var base: Base
  /// The unit the app writes: `s`, `ns`.
  public var unit: String

  public init(_ base: Base, unit: String) {
    self.base = base
    self.unit = unit
  }
}

/// Personal data where the user typed it (`name`).
public struct DeviceInfo: Hashable, Sendable, Codable {
  public var id: String?
  public var name: String?
  public var model: String?
  public init() {}
}

public struct SceneInfo: Hashable, Sendable, Codable {
  public var label: String?
  public var type: String?
  public var description: String?
  public init() {}
}

/// Whether every file that a finished upload of this family has is there and closed.
public struct UploadCompleteness: Hashable, Sendable {
  public var isWhole = true
  /// What is missing or not finished, one sentence each.
  public var missing: [String] = []
  /// Files that a complete upload would have and that are not there, by the rule of the family: their
  /// names, or their endings (`.h264`) where the files of a capture share a stem. In the order in which
  /// the rule names them.
  public var absentFiles: [String] = []
  public init() {}

  public init(missing: [String], absentFiles: [String]) {
    self.missing = missing
    self.absentFiles = absentFiles
    isWhole = missing.isEmpty && absentFiles.isEmpty
  }
}

extension UploadCompleteness: Encodable {
  private enum Key: CodingKey {
    case isWhole, missing
  }

  /// As `completeness` of `capture.json`; `absentFiles` is `missing` there, beside it.
  public func encode(to encoder: any Encoder) throws {
    var object = encoder.container(keyedBy: Key.self)
    try object.encode(isWhole, forKey: .isWhole)
    try object.encode(missing, forKey: .missing)
  }
}
