import Core
import Media
import SystemPackage

/// Builds the capture from its tables and frames. A function that adds to `warnings` must be called
/// once only.
struct PolycamCapture {
  let tables: PolycamTables
  let warnings: WarningCollector

  func capture(id: String) throws(CaptureError) -> Capture {
    let hasPicture =
      tables.color.first != nil || tables.depth.size != nil || tables.confidence.size != nil
    guard hasPicture || !tables.cameras.isEmpty else {
      throw tables.problem
        ?? CaptureError(
          file: tables.files.folder, problem: "neither a picture nor a camera file can be read",
          remedy: "check whether the upload is complete")
    }
    var capture = Capture(
      id: id, family: .polycam, generation: tables.files.generation.rawValue,
      folder: tables.files.folder, clock: CaptureClock(.uptime, unit: "us"))
    capture.frames = tables.frames
    capture.framesProblem = tables.problem
    capture.color = color
    capture.depth = stream(tables.depth, .depth)
    capture.confidence = stream(tables.confidence, .confidence)
    capture.poses = poses()
    let fit = ColorFit(
      stated: tables.anyCamera?.size,
      stored: tables.color.head?.storedSize)
    fit.report(to: warnings)
    capture.intrinsics = intrinsics(fit)
    capture.imu = .absent("the app exports no motion")
    capture.cameraSettings = .absent("the app exports no camera settings")
    capture.geo = .absent("the app exports no positions")
    if capture.depth.value != nil { capture.alignment = alignment(fit) }
    report()
    capture.warnings = warnings.warnings
    capture.files = filesOfParts
    capture.completeness = completeness
    capture.claims.add(streams.map(report))
    capture.claims.add(
      "poses", held: tables.cameras.count, declared: tables.files[.camera].files.count,
      unit: "camera files can be read", by: "its own records")
    return capture
  }

  private func report(_ kind: PolycamFiles.Kind, _ subject: String) -> StreamReport {
    StreamReport(subject, "the \(tables.files.name(of: kind))", tables.files[kind])
  }

  /// The kinds that every frame has.
  private var streams: [(kind: PolycamFiles.Kind, subject: String)] {
    let common: [(kind: PolycamFiles.Kind, subject: String)] = [
      (.camera, "poses"), (.color, "color"),
    ]
    return tables.files.generation == .lidar
      ? common + [(.depth, "depth"), (.confidence, "confidence")] : common
  }

  /// Absent or unreadable for a kind without files; `nil` if it has some.
  private func absence<Value>(_ kind: PolycamFiles.Kind) -> StreamState<Value>? {
    if let problem = tables.files.problems[kind] { return .unreadable(problem) }
    return tables.files[kind].isEmpty
      ? .absent("no \(tables.files.name(of: kind))/*.\(kind.ending)") : nil
  }

  private var color: StreamState<ColorStream> {
    if let absence = absence(.color) as StreamState<ColorStream>? { return absence }
    var stream = ColorStream(
      tables.color, of: tables.files[.color], folder: tables.files.name(of: .color))
    stream.description.state(times: tables.frames.map(\.colorTimestamp))
    return .present(stream)
  }

  private func stream<Pixel>(
    _ files: PictureFiles<Pixel>, _ kind: PolycamFiles.Kind
  ) -> StreamState<PictureStream<Pixel>> {
    absence(kind) ?? .present(PictureStream(files, folder: kind.folder, of: tables.frames))
  }

  private func poses() -> StreamState<PoseStream> {
    if let problem = tables.problem { return .unreadable(problem) }
    if let absence = absence(.camera) as StreamState<PoseStream>? { return absence }
    let rows = PoseStream.Row.rows(tables.cameras.map { ($0.frame, $0.camera.pose) })
    let missing = tables.cameras.count { $0.camera.intrinsics == nil || $0.camera.pose == .none }
    warnings.add(
      .missingKey, "poses", count: missing, "camera files without all numbers of pose or intrinsics"
    )
    warnings.addUnusable(tables.cameras.map(\.camera.pose))
    let times = rows.map { tables.frames[$0.frame].timestamp }
    warnings.addPoseJumps(rows, times)
    var description = StreamDescription(
      file: tables.files.name(of: .camera), encoding: "json", frames: rows.count)
    description.state(times: times)
    return .present(PoseStream(description: description, rows: rows))
  }

  private func intrinsics(_ fit: ColorFit) -> StreamState<[IntrinsicsRow]> {
    if let problem = tables.problem { return .unreadable(problem) }
    if let obstacle = fit.obstacle { return .absent(obstacle) }
    guard tables.anyCamera != nil else {
      warnings.add(.calibrationMissing, "color", "no intrinsics are recorded")
      return .absent("no camera file has intrinsics")
    }
    let upright = tables.color.head?.uprightSize ?? tables.anyCamera?.size
    return .present(
      tables.cameras.compactMap { frame, camera in
        camera.intrinsics.map { fit.row(frame, $0, upright) }
      })
  }

  private func alignment(_ fit: ColorFit) -> DepthCalibration {
    guard fit.obstacle == nil, let own = tables.anyCamera?.intrinsics, let camera = fit.camera(own)
    else { return .sameCamera(nil, stored: nil) }
    return .sameCamera(Intrinsics(camera), stored: tables.color.head?.storedSize)
  }

  private func report() {
    warnings.add(.emptyRecord, "poses", count: tables.emptyCameras, "camera files of 0 bytes")
    warnings.add(
      .corruptRecord, "poses", count: tables.corruptCameras,
      "camera files that are no JSON object, or whose time is far away from all others")
    warnings.add(
      .pairingApproximate, "frames", count: tables.otherTimes,
      "camera files whose timestamp is not the time of their name, which counts")
    for kind in PolycamFiles.Kind.allCases {
      warnings.addLinksOutside(
        tables.files.name(of: kind), tables.files.outside[kind] ?? 0, of: "files")
    }
    if tables.files.source == .corrected {
      warnings.add(
        .missingFile, "keyframes", count: 2,
        "the folders cameras and images, what was recorded, are absent; corrected_cameras and corrected_images, which "
          + "Polycam made of them afterwards, are read in their place")
    }
    let expected = tables.files[.camera].files.count
    guard expected > 0 else {
      return warnings.add(
        .missingFile, "poses",
        "no \(tables.files.name(of: .camera))/*.json: frames have no pose")
    }
    for (kind, subject) in streams.dropFirst() where tables.files.problems[kind] == nil {
      guard !tables.files[kind].isEmpty else {
        warnings.add(.missingFile, subject, "no \(tables.files.name(of: kind))/*.\(kind.ending)")
        continue
      }
      report(kind, subject).tell(
        "files", expected: expected, "camera files",
        "paired by time"
          + LossWords.without(tables.files[.camera].numbers(missingIn: tables.files[kind])),
        to: warnings)
    }
  }

  private var filesOfParts: [CapturePart: [FilePath]] {
    let files = tables.files
    let color = files.paths(.color)
    let sized = tables.color.first.map { Array(color.prefix($0 + 1)) } ?? color
    // Frames are ranks of times: where a kind lacks one, files of other kinds decide about the frames of its own.
    let all = PolycamFiles.Kind.allCases.flatMap(files.paths)
    func placed(_ kind: PolycamFiles.Kind) -> [FilePath] {
      files.paths(kind).isEmpty ? [] : files[kind].areRanks ? files.paths(kind) : all
    }
    let cameras = placed(.camera)
    let parts: [CapturePart: [FilePath]] = [
      .color: placed(.color), .depth: placed(.depth), .confidence: placed(.confidence),
      .frames: cameras, .poses: cameras, .intrinsics: cameras + sized,
      .calibration: cameras + sized,
    ]
    return parts.filter { !$0.value.isEmpty }
      .mapValues { paths in
        var known: Set<FilePath> = []
        return paths.filter { known.insert($0).inserted }
      }
  }

  /// Every kind has a file for every time.
  private var completeness: UploadCompleteness {
    var missing: [String] = []
    var absent: [String] = []
    if tables.files.source == .corrected {
      absent += [PolycamFiles.Kind.camera, .color].map { "\($0.folder)/*.\($0.ending)" }
      missing.append("The folders cameras and images, what was recorded, are not there.")
    }
    for (kind, _) in streams {
      let lacking = tables.frames.count - tables.files[kind].files.count
      guard lacking > 0 else { continue }
      let files = "\(tables.files.name(of: kind))/*.\(kind.ending)"
      missing.append("\(lacking) of \(files) are not there.")
      absent.append(files)
    }
    return UploadCompleteness(missing: missing, absentFiles: absent)
  }
}

/// The content of all files of one capture, each read for itself.
struct PolycamTables {
  let files: PolycamFiles
  let color: ColorPictures
  let depth: PictureFiles<UInt16>
  let confidence: PictureFiles<UInt8>
  /// The camera files that can be read, by frame.
  let cameras: [(frame: Int, camera: PolycamCamera)]
  let emptyCameras: Int
  let corruptCameras: Int
  /// Number of camera files whose timestamp is not that of their name.
  let otherTimes: Int
  let frames: [CaptureFrame]
  /// Why the camera files, or one of them, cannot be opened.
  let problem: CaptureError?

  /// Cost: reads every camera file, and pictures until one of each kind is readable.
  init(_ files: PolycamFiles) {
    self.files = files
    color = ColorPictures(StoredPictureFiles(files[.color], in: files.folder(of: .color)))
    depth = .depth(files[.depth], in: files.folder(of: .depth))
    confidence = .confidence(files[.confidence], in: files.folder(of: .confidence))
    let found = FrameFiles(
      files[.camera], in: files.folder(of: .camera), PolycamCamera.init)
    cameras = found.sorted.map { ($0.frame, $0.value) }
    (emptyCameras, corruptCameras) = (found.empty, found.corrupt)
    problem = files.problems[.camera] ?? found.problem
    otherTimes = cameras.count { frame, camera in
      let named = Double(files.times[frame].nanoseconds / 1_000)
      return camera.statedTime ?? named != named
    }
    let hasColor = Set(files[.color].files.map(\.number))
    let hasDepth = depth.hasFile
    frames = files.times.enumerated().map { index, time in
      CaptureFrame(
        timestamp: time, colorTimestamp: hasColor.contains(index) ? time : nil,
        depthTimestamp: hasDepth(index) ? time : nil)
    }
  }

  /// The intrinsics of any frame, with the size that they belong to.
  var anyCamera: PolycamCamera? { cameras.lazy.map(\.camera).first { $0.intrinsics != nil } }
}

/// What `cameras/<microseconds>.json` says of its frame.
struct PolycamCamera {
  var pose: PoseReading
  /// `nil` unless there are four finite numbers with focal lengths above zero.
  var intrinsics: Intrinsics?
  /// The picture size of the intrinsics; `nil` = not stated.
  var size: PictureSize?
  /// Microseconds; `nil` = not stated.
  var statedTime: Double?

  private static let poseKeys = (0..<3).flatMap { row in (0..<4).map { "t_\(row)\($0)" } }

  init(_ members: LooseJSON) {
    pose = Self.pose(members)
    intrinsics = Intrinsics(usable: ["fx", "fy", "cx", "cy"].map(members.finite))
    if let width = members.integer("width"), let height = members.integer("height"), width > 0,
      height > 0
    {
      size = PictureSize(width: width, height: height)
    }
    statedTime = members.finite("timestamp")
  }

  /// Whether the first bytes of a file, which is small, are those of a camera.
  static func isOne(_ head: [UInt8]) -> Bool {
    LooseJSON(TextBytes.utf8(head))?.contains("t_00") ?? false
  }

  /// From three rows, camera to world, in ARKit camera axes.
  private static func pose(_ members: LooseJSON) -> PoseReading {
    let rows = poseKeys.compactMap { members.number($0) }
      .compactMap { LooseJSON.number(String($0)) }
    guard rows.count == 12 else { return .none }
    return PoseReading(rowMajor: rows + [0, 0, 0, 1])
  }
}
