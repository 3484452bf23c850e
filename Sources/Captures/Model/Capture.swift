import Core
import SystemPackage

/// One recording, described independently of the app that made it.
///
/// Opening a capture maps files and reads side tables; pictures are not read until a stage needs
/// them. Only tables grow with the recording's length.
public struct Capture: Sendable {
  public var id: String
  public var family: CaptureFamily
  /// The description of the family, set when the capture is opened through a registry.
  public var familyDescription: FamilyDescription
  public var generation: String
  /// Folder of the capture; the file if the capture is one file.
  public var path: FilePath
  /// Whether the capture is one file, at `path`.
  public let isFile: Bool
  public var device = DeviceInfo()
  public var scene = SceneInfo()
  /// Who recorded it, if the app asks for it. Personal data.
  public var user: String?
  /// Wall-clock start, as far as known: `2017-03-14` or `2026-01-24T10:00:00Z`.
  public var recordedAt: String?
  public var clock: CaptureClock
  /// The canonical frames; a frame's index is its position.
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
  /// Why the file that determines the canonical frames cannot be read. Stages that relate data to
  /// frames by time then fail; `frames` follows from the pictures alone.
  public var framesProblem: CaptureError?
  /// Whether frame times and IMU times share one clock. If not, there are no per-frame IMU tables.
  public var framesShareIMUClock = true
  /// Whether a frame without a depth picture has no depth time either; `false` if tables show the
  /// times in the files.
  public var depthTimesNeedPictures = true
  /// Whether the family stores a small preview picture with its media.
  var hasThumbnail = false
  /// What is known about the two cameras; `nil` without depth.
  public var alignment: DepthCalibration?
  /// By part, why one of its files cannot be opened although others can be read. The part has the
  /// content of the readable files; stages that read it fail.
  public var partProblems: [CapturePart: CaptureError] = [:]
  /// Why existing calibration files cannot be read.
  public var calibrationProblem: CaptureError?
  public var warnings: [CaptureWarning] = []
  /// Lengths of the streams compared with what the capture declares.
  public var claims = StreamClaims()
  /// The files from which each part was read: inputs of the stages that read the part.
  public var files: [CapturePart: [FilePath]] = [:]
  /// Whether the upload looks complete, and what is missing.
  public var completeness = UploadCompleteness()

  public init(
    id: String, family: CaptureFamily, generation: String, folder: FilePath, clock: CaptureClock
  ) {
    self.id = id
    self.family = family
    familyDescription = FamilyDescription(unknown: family)
    self.generation = generation
    path = folder
    isFile = false
    self.clock = clock
  }

  /// A capture that is one file.
  public init(
    id: String, family: CaptureFamily, generation: String, file: FilePath, clock: CaptureClock
  ) {
    self.id = id
    self.family = family
    familyDescription = FamilyDescription(unknown: family)
    self.generation = generation
    path = file
    isFile = true
    self.clock = clock
  }

  /// The folder that holds the files: its own, or the one around a capture that is one file.
  public var folder: FilePath { isFile ? path.removingLastComponent() : path }

  /// The world of the poses.
  public var world: PoseWorld { poses.value?.world ?? familyDescription.world(generation) }
}

extension Capture {
  /// The streams that exist but cannot be read.
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

  /// Adds one warning for each file of the capture that is a link out of its folder.
  mutating func warn(ofLinksOutside names: [String]) {
    warnings += names.map {
      CaptureWarning(
        .pathOutsideCapture, $0, "\($0) is a link out of the capture's folder; not followed")
    }
  }
}

/// The parts of a capture that stages read, each with its own files.
public enum CapturePart: String, Codable, CaseIterable, Sendable {
  case color, depth, confidence, imu, poses, intrinsics, cameraSettings, geo
  /// Canonical frames and their times.
  case frames
  /// Cameras and extrinsics.
  case calibration
  /// The app's own small preview picture.
  case thumbnail
}

/// A canonical frame. Its index is the same for color, depth, confidence, aligned and the rows of
/// tables.
public struct CaptureFrame: Hashable, Sendable {
  /// Time on the capture's clock; `nil` = unknown.
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
  /// The unit of the app's times: `s`, `ns`.
  var unit: String

  public init(_ base: Base, unit: String) {
    self.base = base
    self.unit = unit
  }
}

/// The recording device. `name` is personal data, if the user entered it.
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

/// Whether all files of a finished upload of this family are there and closed.
public struct UploadCompleteness: Hashable, Sendable {
  public var isWhole = true
  /// What is missing or unfinished, one sentence each.
  public var missing: [String] = []
  /// Files of a complete upload that are missing: their names, or their endings (`.h264`) if the
  /// files of a capture share a stem. In the order of the family's rule.
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

  /// Encoded as `completeness` of `capture.json`; `absentFiles` is a sibling key, `missing`.
  public func encode(to encoder: any Encoder) throws {
    var object = encoder.container(keyedBy: Key.self)
    try object.encode(isWhole, forKey: .isWhole)
    try object.encode(missing, forKey: .missing)
  }
}
