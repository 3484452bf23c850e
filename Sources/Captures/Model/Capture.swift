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
  public private(set) var isFile = false
  public var device = DeviceInfo()
  public var scene = SceneInfo()
  /// Who recorded it, if the app asks for it. Personal data.
  public var user: String?
  /// Wall-clock start, as far as known: `2017-03-14` or `2026-01-24T10:00:00Z`.
  public var recordedAt: String?
  /// When the app sent it to its own server: `2026-01-24T10:00:00Z`.
  var uploadedAt: String?
  /// How the device was held, in the app's own word.
  public var orientation: String?
  public var clock: CaptureClock
  /// The canonical frames; a frame's index is its position.
  public var frames: [CaptureFrame] = []
  public var color: StreamState<ColorStream> = .absent("the family records no color")
  /// The pictures of a second color camera, given to the frames of the first by their times; -1 is the frame of
  /// pictures that have none.
  public var secondColor: StreamState<ColorStream> = .absent("the capture has no second camera")
  /// Intrinsics of the second camera; empty if they are not known.
  public var secondIntrinsics: [IntrinsicsRow] = []
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
  public var claims: [StreamClaim] = []
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
    self.clock = clock
  }

  /// A capture that is one file.
  public init(
    id: String, family: CaptureFamily, generation: String, file: FilePath, clock: CaptureClock
  ) {
    self.init(id: id, family: family, generation: generation, folder: file, clock: clock)
    isFile = true
  }

  /// The folder that holds the files: its own, or the one around a capture that is one file.
  public var folder: FilePath { isFile ? path.removingLastComponent() : path }

  /// The world of the poses.
  public var world: PoseWorld { poses.value?.world ?? familyDescription.world(generation) }
}

extension Capture {
  /// The streams that exist but cannot be read.
  public var errors: [(stream: String, error: CaptureError)] {
    let whole: [(stream: String, error: CaptureError)] = streamErrors.compactMap {
      stream, error in error.map { (stream, $0) }
    }
    let inPart = CapturePart.allCases.compactMap { part in
      partProblems[part].map { (stream: part.rawValue, error: $0) }
    }
    return whole + inPart.filter { problem in !whole.contains { $0.stream == problem.stream } }
  }

  fileprivate var streamErrors: [(stream: String, error: CaptureError?)] {
    [
      ("color", color.error), ("depth", depth.error), ("confidence", confidence.error),
      ("imu", imu.error), ("poses", poses.error), ("intrinsics", intrinsics.error),
      ("cameraSettings", cameraSettings.error), ("geo", geo.error), ("frames", framesProblem),
    ]
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
  case color, secondColor, depth, confidence, imu, poses, intrinsics, cameraSettings, geo
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
  /// How many files have the digests that the app wrote beside them; `nil` if it wrote none.
  public var verifiedFiles: Int?
  public init() {}

  public init(missing: [String], absentFiles: [String]) {
    self.missing = missing
    self.absentFiles = absentFiles
    isWhole = missing.isEmpty && absentFiles.isEmpty
  }
}

/// Encoded as `completeness` of `capture.json`; `absentFiles` is a sibling key, `missing`.
extension UploadCompleteness: Encodable {
  private enum CodingKeys: CodingKey {
    case isWhole, missing, verifiedFiles
  }
}

extension Capture {
  /// Leaves out the cameras of mirrored pictures: poses and intrinsics are those of pictures that are not mirrored.
  mutating func leaveOutMirroredCameras() {
    if secondColor.value?.isMirrored == true { secondIntrinsics = [] }
    guard color.value?.isMirrored == true else { return }
    poses = poses.then { _ in .absent(ColorStream.mirrorReason) }
    intrinsics = intrinsics.then { _ in .absent(ColorStream.mirrorReason) }
    alignment?.colorIntrinsics = nil
  }

  /// Adds the claim that the IMU covers all frames, if both have times on one clock.
  ///
  /// Frames before the first or after the last sample of an inertial sensor with at least two
  /// samples count as lost, unless they are at most one second at each end, as in ordinary
  /// recordings. Cost: a pass over the samples.
  mutating func claimIMUCoverage() {
    guard framesShareIMUClock, let imu = imu.value else { return }
    let times = frames.compactMap(\.timestamp)
    guard times.count >= 2, let first = times.min(), let last = times.max() else { return }
    let rate = TimeSteps(times.sorted()).rateHz
    for (name, span) in imu.inertialSpans {
      var outside = FramesOutside(frames: times.count, rateHz: rate)
      outside.before = times.count { $0 < span.lowerBound }
      outside.after = times.count { $0 > span.upperBound }
      let hasCommonTime = outside.count < times.count || !Self.areApart(first...last, span)
      if outside.isShort, hasCommonTime { continue }
      claims.add(
        "imu", held: times.count - outside.count, declared: times.count,
        unit: "frames lie within the samples of \(name)", by: "the times of the frames")
    }
  }

  /// Whether the times of frames and samples are further apart than the IMU starts late in ordinary
  /// recordings, which may be over by then.
  static func areApart(_ a: ClosedRange<Timestamp>, _ b: ClosedRange<Timestamp>) -> Bool {
    max(a.lowerBound - b.upperBound, b.lowerBound - a.upperBound) > 1_000_000_000
  }
}

extension Capture {
  /// Marks parts as unreadable if one of their files exists but cannot be opened: no permission, a
  /// folder or pipe in its place, a link loop, a device error. Such a file is not missing: stages
  /// that need it must fail rather than be skipped.
  ///
  /// A part that was considered absent becomes unreadable. A part with other readable files keeps
  /// their content, and the problem goes into `partProblems`.
  ///
  /// Cost: the folder is listed, unless the capture is one file, and every file of the capture is opened once.
  ///
  /// - Parameter role: the role of a file in the capture's folder, by its name.
  mutating func failWhatCannotBeRead(_ role: (String) -> FileRole?) {
    // Nothing beside a capture that is one file belongs to it.
    // An error of the machine is told of to whoever opens the capture.
    let listing = isFile ? nil : try? FolderListing(of: folder)
    var paths = Set(files.values.joined())
    for name in (listing?.files ?? []) + (listing?.subfolders ?? []) + (listing?.others ?? [])
    where role(name) != nil {
      paths.insert(folder.appending(name: name))
    }
    var problems: [FilePath: CaptureError] = [:]
    for file in paths {
      guard let error = Self.problem(file) else { continue }
      problems[file] = CaptureError(error, of: file)
    }
    guard !problems.isEmpty else { return }
    for part in CapturePart.allCases {
      guard let problem = files[part]?.lazy.compactMap({ problems[$0] }).first else { continue }
      fail(part, problem)
      if part == .calibration { calibrationProblem = problem }
      if part == .thumbnail { partProblems[part] = problem }
    }
    if case .stills(let stills)? = color.value?.source,
      let problem = stills.lazy.compactMap({ problems[$0] }).first
    {
      partProblems[.color] = problem
    }
    for (file, problem) in problems.sorted(by: { $0.key.text < $1.key.text }) {
      guard file.removingLastComponent() == folder, let name = file.name, let role = role(name)
      else { continue }
      for part in role.parts {
        if !fail(part, problem), !role.isAlternative, partProblems[part] == nil, isPresent(part) {
          partProblems[part] = problem
        }
      }
      // It exists, so it is not missing.
      completeness.absentFiles.removeAll { $0 == name || name.hasSuffix($0) }
      if listing?.contains(name) != true { retractAbsence(of: name, role.parts) }
    }
  }

  /// The first of these errors of the machine that no unreadable stream tells of: what was made of the capture
  /// without that file is not to be believed.
  func untold(of errors: [FileError]) -> FileError? {
    let told = unread
    return errors.first { error in
      !told.contains { $0.file.starts(with: error.path) || error.path.starts(with: $0.file) }
    }
  }

  /// Whether streams of it could not be read because the machine failed: they may be readable the next time.
  public var isToBeOpenedAgain: Bool { unread.contains { $0.errorNumber != .permissionDenied } }

  /// Errors of streams whose files could not be opened or read, whatever is in them.
  package var unread: [CaptureError] {
    (streamErrors.map(\.error) + [calibrationProblem]).compactMap(\.self)
      .filter { $0.errorNumber != nil }
  }

  /// Marks a part that was considered absent as unreadable; `false` if it was not absent.
  @discardableResult
  private mutating func fail(_ part: CapturePart, _ problem: CaptureError) -> Bool {
    func failed<Value>(_ state: inout StreamState<Value>) -> Bool {
      guard case .absent = state else { return false }
      state = .unreadable(problem)
      return true
    }
    switch part {
    case .color: return failed(&color)
    case .depth: return failed(&depth)
    case .confidence: return failed(&confidence)
    case .imu: return failed(&imu)
    case .poses: return failed(&poses)
    case .intrinsics: return failed(&intrinsics)
    case .cameraSettings: return failed(&cameraSettings)
    case .geo: return failed(&geo)
    case .frames, .calibration, .thumbnail, .secondColor: return false
    }
  }

  private func isPresent(_ part: CapturePart) -> Bool {
    switch part {
    case .color: color.value != nil
    case .depth: depth.value != nil
    case .confidence: confidence.value != nil
    case .imu: imu.value != nil
    case .poses: poses.value != nil
    case .intrinsics: intrinsics.value != nil
    case .cameraSettings: cameraSettings.value != nil
    case .geo: geo.value != nil
    case .frames: framesProblem == nil
    case .calibration, .thumbnail, .secondColor: true
    }
  }

  /// Removes a file from the missing ones if something that is not a file has its name.
  private mutating func retractAbsence(of name: String, _ parts: Set<CapturePart>) {
    let ending = name.firstIndex(of: ".").map { String(name[$0...]) } ?? name
    let subjects = Set([name, String(ending.dropFirst())] + parts.map(\.rawValue))
      .union(parts.contains(.color) ? ["video"] : [])
    warnings.removeAll { warning in
      switch warning.code {
      case .missingFile: subjects.contains(warning.subject)
      case .imuMissing: parts.contains(.imu)
      case .calibrationMissing: parts.contains(.intrinsics) && intrinsics.error != nil
      default: false
      }
    }
    completeness.missing.removeAll { $0.contains(name) || $0.contains(" \(ending) ") }
  }

  /// Why an existing file cannot be opened; `nil` if it can, or does not exist.
  private static func problem(_ path: FilePath) -> FileError? {
    do throws(FileError) {
      // Does not open pipes or devices.
      _ = try InputFile(path)
      return nil
    } catch {
      if error.kind == .notFound { return nil }
      let remedy = "move it away, and copy the file from the device again"
      // What the file holds is not known: another copy would not help.
      if error.isOfMachine { return error }
      guard error.code == nil else {
        var error = error
        error.remedy = error.remedy ?? remedy
        return error
      }
      return FileError(
        kind: .other, path: path, operation: "open",
        reason: FileSystem.isFolder(path) ? "it is a folder" : "it is not a regular file",
        remedy: remedy)
    }
  }
}
