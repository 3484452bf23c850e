import Core
import Media
import SystemPackage

/// Builds the capture of one session.
struct VISLAMCapture {
  let folder: VISLAMFiles
  let id: String
  let warnings = WarningCollector()
  private let tables: VISLAMTables

  init(_ recognition: Recognition) throws(CaptureError) {
    folder = try VISLAMFiles(recognition.folder)
    id = recognition.id
    tables = VISLAMTables(folder, warnings)
    for name in folder.outside {
      warnings.add(.pathOutsideCapture, name, "a link that leads out of the folder; not followed")
    }
  }

  func capture() throws(CaptureError) -> Capture {
    let table = tables.frames()
    let pictures = VISLAMPictures(folder, table.value, warnings)
    let joined = VISLAMFrames(pictures, table, warnings)
    let samples = tables.samples()

    var capture = Capture(
      id: id, family: .vislam, generation: "v1", folder: folder.path,
      clock: CaptureClock(.uptime, unit: "ns"))
    capture.recordedAt = VISLAMFiles.recordedAt(id)
    capture.frames = joined.frames.frames
    capture.framesProblem = table.error
    capture.framesShareIMUClock = joined.hasRows
    capture.color = joined.color(declaredFrames: tables.metadata.frameCount, warnings)
    capture.cameraSettings = joined.cameraSettings(table)
    let camera = VISLAMCamera(folder, joined, capture.color.value)
    capture.intrinsics = camera.intrinsics
    capture.alignment = camera.alignment

    let isAndroid = table.value?.hasExposureInNanoseconds == true || tables.metadata.hasRecordingID
    let isSibling = table.value?.hasSiblingForm == true || samples.value?.isSibling == true
    if isSibling || joined.usesStills || hasSiblingFiles { capture.generation = "android" }
    let convention: IMUConvention =
      isAndroid || samples.value?.isAndroid == true ? .android : .coremotion
    capture.imu = imu(samples, convention, frames: joined.hasRows ? capture.frames : [])
    capture.clock = clock(joined, capture.imu.value)

    capture.files = files(pictures, samples: samples, table: table)
    capture.files.merge(camera.files(capture.files[.color] ?? [])) { _, new in new }
    let compared = comparedFiles()
    capture.completeness = completeness(
      pictures, samples: samples, table: table, listed: compared?.missing ?? [])
    capture.completeness.verifiedFiles = compared?.verified
    capture.warnings = warnings.warnings
    claim(&capture, joined)
    try refuseEmpty(capture)
    return capture
  }

  private var hasSiblingFiles: Bool {
    [VISLAMFiles.metadataFile, VISLAMFiles.calibrationFile, VISLAMFiles.checksumsFile]
      .contains(where: folder.contains)
  }

  /// Compares the files with the digests that the app wrote; a file that differs is damaged, and one that is not there
  /// is missing. `nil` without them.
  ///
  /// Cost: reading every file that is named.
  private func comparedFiles() -> (verified: Int, missing: [String])? {
    let name = VISLAMFiles.checksumsFile
    guard folder.contains(name),
      let bytes = try? InputFile(folder.file(name)).whole(limit: InputLimits.bytesOfDescription)
    else { return nil }
    var verified = 0
    var wrong: [String] = []
    var missing: [String] = []
    for line in String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline) {
      // `sha256sum` puts an asterisk before the names of files that it has read as binary.
      guard let form = line.wholeMatch(of: /([0-9a-fA-F]{64})[ \t]+\*?(?:\.\/)?(.+)/) else {
        continue
      }
      let location = folder.location(of: String(form.2))
      if case .missing = location { missing.append(PathText.shown(String(form.2))) }
      guard case .found(let file) = location, let digest = try? Digest(ofFileAt: file) else {
        continue
      }
      if digest.hex == form.1.lowercased() {
        verified += 1
      } else {
        wrong.append(PathText.shown(String(form.2)))
      }
    }
    warnings.add(
      .corruptRecord, name, count: wrong.count,
      "files whose SHA-256 is not the one that the app wrote: "
        + wrong.prefix(8).joined(separator: ", "))
    // Where none of the names is there, they are those of another folder, such as `session_…/video.mov`.
    return (verified, verified + wrong.count > 0 ? missing : [])
  }

  private func imu(
    _ table: StreamState<VISLAMIMUTable>, _ convention: IMUConvention, frames: [CaptureFrame]
  ) -> StreamState<IMUStream> {
    switch table {
    case .absent(let why): .absent(why)
    case .unreadable(let error): .unreadable(error)
    case .present(let table): StreamState(try read(table, convention, frames: frames))
    }
  }

  private func read(
    _ table: VISLAMIMUTable, _ convention: IMUConvention, frames: [CaptureFrame]
  ) throws(CaptureError) -> IMUStream {
    let stream = try table.stream(convention, warnings)
    let tail =
      table.rowCount == 10_000
      ? "; the file holds exactly 10,000 rows, the tail that a ring buffer keeps" : ""
    let outside = stream.framesOutside(frames)
    warnings.add(
      .imuOutsideFrames, "imu", count: outside.count, of: .ends(outside),
      "frames before the first or after the last sample of an inertial sensor" + tail)
    return stream
  }

  /// Times of more than 31 years are not an uptime.
  private func clock(_ joined: VISLAMFrames, _ imu: IMUStream?) -> CaptureClock {
    guard joined.hasRows else { return CaptureClock(.video, unit: "s") }
    let first = joined.frames.frames.first?.timestamp ?? imu?.samples.first?.timestamp
    let isUnix = (first?.nanoseconds ?? 0) >= 1_000_000_000_000_000_000
    return CaptureClock(isUnix ? .unix : .uptime, unit: "ns")
  }

  private func refuseEmpty(_ capture: Capture) throws(CaptureError) {
    guard capture.frames.isEmpty, capture.color.value == nil, capture.imu.value == nil else {
      return
    }
    if let error = capture.framesProblem ?? capture.imu.error ?? capture.color.error { throw error }
    throw CaptureError(
      file: folder.path, problem: "neither a picture nor a frame nor an IMU sample",
      remedy: "the tables are written when recording ends; check whether the upload is complete")
  }
}

extension VISLAMCapture {
  /// Adds claims about stream lengths: rows and pictures for each other; for the pictures also the
  /// video's index and the side file of the Android recorder.
  func claim(_ capture: inout Capture, _ joined: VISLAMFrames) {
    let pictures = capture.color.value?.description.frames
    let rows = joined.rows.count
    if let pictures, rows > 0 {
      capture.claims.add(
        "color", held: rows - joined.frames.rowsWithoutPicture, declared: rows,
        by: "the rows of \(VISLAMFiles.frameFile)")
      capture.claims.add(
        "cameraSettings", held: pictures - joined.frames.picturesWithoutRow, declared: pictures,
        unit: "rows are there", by: "the pictures")
    }
    capture.claims.add(
      "color", held: pictures, declared: capture.color.value?.description.declaredFrames,
      by: VISLAMFiles.metadataFile)
    if case .video(let video) = joined.pictures {
      capture.claims.add(
        "color", held: pictures, declared: video.track.listedPictures, by: "the index of the video")
    }
  }
}

extension VISLAMCapture {
  /// The files from which each part is read. If rows determine a picture's frame, color depends on
  /// the tables too.
  func files(
    _ pictures: VISLAMPictures, samples: StreamState<VISLAMIMUTable>,
    table: StreamState<VISLAMFrameTable>
  ) -> [CapturePart: [FilePath]] {
    let rows = existing([VISLAMFiles.frameFile])
    var color: [FilePath] = []
    switch pictures {
    case .none: break
    case .unreadable(let error): color = [error.file]
    case .video(let video): color = [video.path]
    case .stills(let stills): color = stills.all
    }
    let signs = existing([VISLAMFiles.metadataFile])
    var files: [CapturePart: [FilePath]] = [:]
    files[.color] = color + rows
    // The video's times show which pictures lack a row; stills have none.
    if case .video = pictures { files[.frames] = rows + color } else { files[.frames] = rows }
    files[.cameraSettings] = rows
    let imuNames = [VISLAMFiles.imuFile, VISLAMFiles.siblingIMUFile]
    // The form of the frame table is one of the signs of the convention.
    files[.imu] = Array(existing(imuNames).prefix(1)) + signs + rows
    return files
  }

  /// The app writes its tables when the recording ends: a session without them was interrupted.
  func completeness(
    _ pictures: VISLAMPictures, samples: StreamState<VISLAMIMUTable>,
    table: StreamState<VISLAMFrameTable>, listed: [String]
  ) -> UploadCompleteness {
    var missing: [String] = []
    switch pictures {
    case .none: missing.append("no video and no folder of stills")
    case .unreadable(let error): missing.append("the video is not closed: \(error.problem)")
    case .video: break
    case .stills(let stills):
      let holes = stills.ofRows.count { $0 == nil }
      if holes > 0, stills.way == .number {
        missing.append("pictures that rows name are missing (\(holes))")
      }
    }
    if case .absent(let why) = table { missing.append(why) }
    if case .absent(let why) = samples { missing.append(why) }
    if table.value?.isCut == true { missing.append("\(VISLAMFiles.frameFile) ends inside a line") }
    if let samples = samples.value, samples.isCut {
      missing.append("\(samples.file) ends inside a line")
    }
    var absent: [String] = []
    if case .none = pictures { absent.append(VISLAMFiles.usualVideo) }
    let motion = [VISLAMFiles.imuFile, VISLAMFiles.siblingIMUFile]
    if case .absent = samples {
      absent.append(motion.first(where: folder.contains) ?? VISLAMFiles.imuFile)
    }
    if case .absent = table { absent.append(VISLAMFiles.frameFile) }
    if !listed.isEmpty {
      missing.append("files that \(VISLAMFiles.checksumsFile) names are missing (\(listed.count))")
      absent += listed.filter { !absent.contains($0) }
    }
    return UploadCompleteness(missing: missing, absentFiles: absent)
  }

  private func existing(_ names: [String]) -> [FilePath] {
    names.filter(folder.contains).map(folder.file)
  }
}

/// What the Android recorder states of its camera: `calibration.json`, else a focal length in each row.
struct VISLAMCamera {
  private(set) var intrinsics: StreamState<[IntrinsicsRow]> = .absent("no intrinsics are recorded")
  private(set) var alignment: DepthCalibration?
  private let calibration: FilePath?
  private let table: FilePath

  init(_ folder: VISLAMFiles, _ joined: VISLAMFrames, _ color: ColorStream?) {
    let name = VISLAMFiles.calibrationFile
    calibration = folder.contains(name) ? folder.file(name) : nil
    table = folder.file(VISLAMFiles.frameFile)
    guard let color, let width = color.description.width, let height = color.description.height
    else { return }
    let upright = PictureSize(width: width, height: height)
    let isSideways = color.clockwiseQuarterTurns % 2 != 0
    let stored = isSideways ? upright.turned : upright
    func fit(_ stated: PictureSize?) -> ColorFit {
      ColorFit(stated: stated, stored: stored, swapsSides: isSideways)
    }
    if let stated = calibration.flatMap(VISLAMCalibration.init) {
      let fit = fit(stated.size)
      if let obstacle = fit.obstacle ?? stated.obstacle {
        intrinsics = .absent(obstacle)
        return
      }
      alignment = DepthCalibration(
        registered: false, colorIntrinsics: fit.camera(stated.intrinsics),
        colorDistortion: stated.lens)
      intrinsics = .present(
        joined.frames.frames.indices.map { fit.row($0, stated.intrinsics, upright) })
      return
    }
    let rows = joined.frames.rowOfFrame.enumerated().compactMap { frame, row -> IntrinsicsRow? in
      guard let row = row.map({ joined.rows[$0] }), let focal = row.focalLength else { return nil }
      let size = PictureSize(width: row.width ?? stored.width, height: row.height ?? stored.height)
      let fit = fit(size)
      guard fit.obstacle == nil else { return nil }
      let camera = Intrinsics(
        fx: focal, fy: focal, cx: Double(size.width - 1) / 2, cy: Double(size.height - 1) / 2)
      return fit.row(frame, camera, upright)
    }
    if !rows.isEmpty { intrinsics = .present(rows) }
  }

  /// The files from which the camera was read; none where there is none, so that it determines nothing.
  func files(_ color: [FilePath]) -> [CapturePart: [FilePath]] {
    guard case .present = intrinsics else { return [:] }
    let source = alignment == nil ? table : calibration ?? table
    return [.intrinsics: [source] + color.filter { $0 != source }, .calibration: [source]]
  }
}

/// `camera_intrinsics` of `calibration.json`: a camera that was measured with a board.
private struct VISLAMCalibration: Decodable {
  let intrinsics: Intrinsics
  let lens: LensDistortion
  let size: PictureSize?
  /// Why it does not apply; `nil` if it does.
  let obstacle: String?

  /// `nil` for a file without usable numbers, because it is never required.
  init?(_ file: FilePath) {
    guard let bytes = try? InputFile(file).whole(limit: InputLimits.bytesOfDescription),
      let stated = LooseJSON.value(Self.self, in: TextBytes.utf8(bytes))
    else { return nil }
    self = stated
  }

  init(from decoder: any Decoder) throws {
    let camera = try decoder.members.nestedContainer(
      keyedBy: TextKey.self, forKey: "camera_intrinsics")
    let numbers: [Double?] = ["fx", "fy", "cx", "cy"].map { camera.value($0) }
    let sides: [Int?] = ["image_width", "image_height"].map { camera.value($0) }
    guard let intrinsics = Intrinsics(usable: numbers) else {
      throw DecodingError.valueNotFound(
        Double.self, .init(codingPath: camera.codingPath, debugDescription: "no camera"))
    }
    self.intrinsics = intrinsics
    let coefficients: [Double] = camera.value("distortion_coeffs") ?? []
    lens = LensDistortion(openCVOrder: coefficients.filter(\.isFinite))
    size = sides[0].flatMap { width in
      sides[1].map { PictureSize(width: width, height: $0) }
    }
    obstacle =
      camera.value("camera_model") == "FISHEYE"
      ? "\(VISLAMFiles.calibrationFile) states a fisheye lens, which is not supported" : nil
  }
}

/// The side files of a session: frame table, samples, metadata. Each table is read once, on
/// request, because reading it adds warnings.
struct VISLAMTables {
  let metadata: VISLAMMetadata
  private let folder: VISLAMFiles
  private let warnings: WarningCollector

  init(_ folder: VISLAMFiles, _ warnings: WarningCollector) {
    self.folder = folder
    self.warnings = warnings
    metadata = VISLAMMetadata(folder)
  }

  /// One row per camera frame.
  func frames() -> StreamState<VISLAMFrameTable> {
    let file = VISLAMFiles.frameFile
    do throws(CaptureError) {
      guard folder.contains(file) else {
        warnings.add(.missingFile, file, "no frame table: frames are the pictures")
        return .absent("no \(file)")
      }
      let table = try VISLAMFrameTable(folder.file(file), warnings: warnings)
      if table.hasRows { return .present(table) }
      warnings.add(.missingFile, file, "the frame table is empty: frames are the pictures")
      return .absent("\(file) is empty")
    } catch {
      return .unreadable(error)
    }
  }

  /// One row per sample.
  func samples() -> StreamState<VISLAMIMUTable> {
    let names = [VISLAMFiles.imuFile, VISLAMFiles.siblingIMUFile]
    do throws(CaptureError) {
      guard let file = names.first(where: folder.contains) else {
        warnings.add(.imuMissing, "imu", "no \(names[0])")
        return .absent("no \(names[0])")
      }
      let table = try VISLAMIMUTable(folder.file(file))
      table.report(to: warnings)
      if table.columns != nil { return .present(table) }
      warnings.add(.imuMissing, "imu", "\(file) is empty")
      return .absent("\(file) is empty")
    } catch {
      return .unreadable(error)
    }
  }
}

extension VISLAMIMUTable {
  /// Whether the form differs from the one that the app writes.
  var isSibling: Bool {
    guard columns?.isFused != true else { return false }
    return columns?.isSibling == true || hasForeignSpelling || file == VISLAMFiles.siblingIMUFile
  }

  /// Whether the form shows that values are specific force.
  var isAndroid: Bool {
    if case .wide = columns?.form { return columns?.isFused == false }
    return hasForeignSpelling
  }
}

extension VISLAMFiles {
  /// The wall-clock start in the name of a session's folder.
  ///
  /// The app writes `session_2026-01-24T10:00:00Z`; copies replace the colons by `-`, `_`, `.`,
  /// `%3A`, a similar character or nothing. `recording_20260124_100000_1a2b3c4d` and
  /// `20260124_100000` are local times.
  ///
  /// Returns `2026-01-24T10:00:00Z`, without `Z` if the name has no time zone; `nil` when the name does not
  /// parse. Fractions of a second are dropped: the name is precise to a second at best. Colons may be
  /// encoded, replaced by any character but a digit, or left out; 8 hex digits at the end distinguish
  /// recordings of the same second.
  static func recordedAt(_ folderName: String) -> String? {
    let form =
      /(?:session_|recording_)?([0-9]{4})-?([0-9]{2})-?([0-9]{2})[t_ ]([0-9]{2})(?>%3a|[^0-9])?+([0-9]{2})(?>%3a|[^0-9])?+([0-9]{2})(?:[.,][0-9]+)?+(?:(z)|([-+])([0-9]{2})(?:(?>%3a|[^0-9])?+([0-5][0-9])|(?!(?>%3a|[^0-9])?[0-5][0-9])))?(?:_[0-9a-f]{8})?/
    guard let found = folderName.lowercased().wholeMatch(of: form)?.output else { return nil }
    let local = "\(found.1)-\(found.2)-\(found.3)T\(found.4):\(found.5):\(found.6)"
    // A date that does not exist (February 30) would be formatted differently.
    guard let moment = ISOTime(local), UTCText.text(seconds: moment.seconds) == local + "Z" else {
      return nil
    }
    guard let hours = found.9.flatMap({ Int64($0) }) else {
      return found.7 == nil ? local : local + "Z"
    }
    guard hours <= 14 else { return nil }
    let minutes = 60 * hours + (found.10.flatMap { Int64($0) } ?? 0)
    return UTCText.text(seconds: moment.seconds + (found.8 == "-" ? 60 : -60) * minutes)
  }
}

/// The optional side file of the Android recorder. Values that cannot be decoded are left out,
/// because the file is never required.
struct VISLAMMetadata: Decodable {
  /// Size limit in bytes; such a file has some hundred.
  private static let mostBytes = 1 << 22

  private(set) var hasRecordingID = false
  /// Number of frames that the app declares.
  private(set) var frameCount: Int?

  init() {}

  init(_ bytes: [UInt8]) {
    if bytes.count < Self.mostBytes,
      let found = LooseJSON.value(Self.self, in: TextBytes.utf8(bytes))
    {
      self = found
    }
  }

  init(_ folder: VISLAMFiles) {
    self.init()
    guard folder.contains(VISLAMFiles.metadataFile) else { return }
    self = VISLAMMetadata(folder.listing.head(of: VISLAMFiles.metadataFile, limit: Self.mostBytes))
  }

  init(from decoder: any Decoder) throws {
    let members = try decoder.members
    hasRecordingID = members.contains("recording_id")
    frameCount = members.value("frame_count")
  }
}
