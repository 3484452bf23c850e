import Core
import Media
import SystemPackage

/// Builds the capture from its tables and frames. A function that adds to `warnings` must be called
/// once only.
struct ThreeDScannerAppCapture {
  let tables: ThreeDScannerAppTables
  let frames: ThreeDScannerAppFrames
  let warnings: WarningCollector

  func capture(id: String) throws(CaptureError) -> Capture {
    try refuseEmpty()
    var capture = Capture(
      id: id, family: .threeDScannerApp, generation: tables.files.generation.rawValue,
      folder: tables.files.folder, clock: CaptureClock(.uptime, unit: "s"))
    capture.recordedAt = startByFixes ?? FolderName.recordedAt(id)
    capture.scene.label = tables.info?.title
    capture.frames = frames.frames
    capture.framesProblem = tables.problem
    capture.color = color
    capture.depth = stream(tables.depth, .depth)
    capture.confidence = stream(tables.confidence, .confidence)
    capture.poses = poses()
    capture.intrinsics = intrinsics
    capture.cameraSettings = cameraSettings
    capture.geo = geo
    capture.imu = .absent("the app records no motion")
    if capture.depth.value != nil {
      capture.alignment = .sameCamera(
        anyIntrinsics, stored: tables.color.head?.storedSize)
    }
    reportFiles()
    reportLengths()
    reportTimes()
    ColorFit.reportAspect(
      ofDepth: tables.depth.size, with: tables.color.head?.storedSize, to: warnings)
    capture.warnings = warnings.warnings
    if tables.files.isInfoOutside {
      capture.warn(ofLinksOutside: [ThreeDScannerAppFiles.infoName])
    }
    capture.files = filesOfParts
    capture.completeness = completeness
    claim(&capture)
    return capture
  }

  /// The start of the recording by the times of the position fixes, rounded to a second, as good as they are:
  /// `2022-03-04T10:25:18Z`. `nil` without any.
  private var startByFixes: String? {
    guard let first = frames.frames.lazy.compactMap(\.timestamp).first else { return nil }
    // A phone may deliver the fix of an earlier time: half of them are not late.
    let differences = tables.sorted.compactMap { _, file -> Double? in
      guard let fix = file.unixTime, let time = file.time else { return nil }
      return Double(fix.nanoseconds) - Double(time.nanoseconds)
    }
    guard !differences.isEmpty else { return nil }
    let seconds = ((Median.of(differences) + Double(first.nanoseconds)) / 1e9).rounded()
    return Int64(exactly: seconds).map { UTCText.text(seconds: $0) }
  }

  private var color: StreamState<ColorStream> {
    let files = tables.files[.color]
    guard !files.isEmpty else { return .absent("no frame_*.jpg") }
    var stream = ColorStream(tables.color, of: files, folder: Self.pattern(.color))
    stream.description.state(times: frames.frames.map(\.colorTimestamp))
    return .present(stream)
  }

  private func stream<Pixel>(
    _ files: PictureFiles<Pixel>, _ kind: ThreeDScannerAppFiles.Kind
  ) -> StreamState<PictureStream<Pixel>> {
    tables.files[kind].isEmpty
      ? .absent("no \(Self.pattern(kind))")
      : .present(PictureStream(files, folder: Self.pattern(kind), of: frames.frames))
  }

  /// The name that stands for all files of a kind.
  static func pattern(_ kind: ThreeDScannerAppFiles.Kind) -> String {
    switch kind {
    case .frame: "frame_*.json"
    case .color: "frame_*.jpg"
    case .depth: "depth_*.png"
    case .confidence: "conf_*.png"
    }
  }

  private func refuseEmpty() throws(CaptureError) {
    let hasPicture =
      tables.color.first != nil || tables.depth.size != nil || tables.confidence.size != nil
    guard tables.rows.isEmpty, !hasPicture else { return }
    throw tables.problem
      ?? CaptureError(
        file: tables.files.folder, problem: "neither a picture nor a frame file can be read",
        remedy: "check whether the upload is complete")
  }
}

extension ThreeDScannerAppCapture {
  /// The files from which each part was read.
  var filesOfParts: [CapturePart: [FilePath]] {
    let files = tables.files
    let rows = files.paths(.frame)
    let color = files.paths(.color)
    let info = files.hasInfo ? [files.path(ThreeDScannerAppFiles.infoName)] : []
    // The size of the pictures belongs to the intrinsics: that of the first readable one.
    let sized = tables.color.first.map { Array(color.prefix($0 + 1)) } ?? color
    let parts: [CapturePart: [FilePath]] = [
      .color: color,
      .depth: files.paths(.depth),
      .confidence: files.paths(.confidence),
      .frames: rows,
      .poses: rows,
      .intrinsics: rows + sized,
      .calibration: rows + sized,
      .cameraSettings: rows,
      .geo: rows + info,
    ]
    return parts.filter { !$0.value.isEmpty }
  }

  /// Names of missing files that are listed one by one.
  private static let mostNames = 1_000

  /// A frame file for every number, in exports with depth depth and confidence with each, and the
  /// description.
  var completeness: UploadCompleteness {
    var missing: [String] = []
    var absent: [String] = []
    var kinds: [ThreeDScannerAppFiles.Kind] = [.frame]
    if tables.files.generation == .lidar { kinds += [.depth, .confidence] }
    for kind in kinds {
      let there = Set(tables.files[kind].files.map(\.number))
      let lacking = frames.frames.indices.filter { !there.contains($0) }
      guard !lacking.isEmpty else { continue }
      missing.append("\(lacking.count) of \(Self.pattern(kind)) are not there.")
      absent += lacking.prefix(Self.mostNames).map(kind.name)
    }
    if !tables.files.hasInfo {
      missing.append("\(ThreeDScannerAppFiles.infoName) is not there.")
      absent.append(ThreeDScannerAppFiles.infoName)
    }
    if tables.isInfoUnreadable {
      missing.append("\(ThreeDScannerAppFiles.infoName) cannot be read.")
    }
    return UploadCompleteness(missing: missing, absentFiles: absent)
  }

  /// Adds claims about stream lengths.
  func claim(_ capture: inout Capture) {
    capture.claims.add(
      "poses", held: tables.rowFileCount, declared: tables.info?.declaredFrames, by: "numImages")
    capture.claims.add(
      [StreamReport("poses", "the frame files", tables.files[.frame])] + ofFrames.map(\.report))
    capture.claims.add(
      "poses", held: tables.rows.count, declared: tables.rowFileCount,
      unit: "frame files can be read", by: "its own records")
  }

  /// The streams that have a picture for every frame file. Color is sparse beside depth.
  private var ofFrames: [(report: StreamReport, kind: ThreeDScannerAppFiles.Kind)] {
    let files = tables.files
    return switch files.generation {
    case .lidar:
      [
        (StreamReport("depth", "the depth files", files[.depth]), .depth),
        (StreamReport("confidence", "the confidence files", files[.confidence]), .confidence),
      ]
    case .highResolution: [(StreamReport("color", "the pictures", files[.color]), .color)]
    }
  }
}

extension ThreeDScannerAppCapture {
  /// Warns of damaged frame files and of links.
  func reportFiles() {
    warnings.add(.emptyRecord, "poses", count: tables.emptyRows, "frame files of 0 bytes")
    warnings.add(
      .corruptRecord, "poses", count: tables.corruptRows,
      "frame files that are no JSON object, or whose number or time is far away from all others")
    warnings.add(
      .corruptRecord, ThreeDScannerAppFiles.infoName, count: tables.isInfoUnreadable ? 1 : 0,
      "the description is no JSON object: its title, position and number of frames are lost")
    warnings.add(
      .pairingApproximate, "frames",
      count: tables.rows.count { number, file in
        file.statedIndex.map { $0 != Double(number) } ?? false
      },
      "frame files whose frame_index is not the number of their name, which counts")
    warnings.add(
      .corruptRecord, "geo",
      count: tables.rows.values.count(where: \.isPositionLost)
        + (tables.info?.isPositionLost == true ? 1 : 0),
      "positions whose latitude and longitude are no place on earth")
    let streams: [(ThreeDScannerAppFiles.Kind, String)] = [
      (.frame, "poses"), (.color, "color"), (.depth, "depth"), (.confidence, "confidence"),
    ]
    for (kind, subject) in streams {
      warnings.addLinksOutside(subject, tables.files.outside[kind] ?? 0, of: "files")
    }
  }

  /// Warns of streams whose length differs from the number of frame files.
  func reportLengths() {
    let expected = tables.rowFileCount
    guard expected > 0 else {
      warnings.add(.missingFile, "poses", "no frame_*.json: frames have neither time nor pose")
      warnings.add(.calibrationMissing, "color", "no intrinsics are recorded")
      return
    }
    for (report, kind) in ofFrames {
      report.tell(
        "pictures", expected: expected, "frame files",
        "paired by number"
          + LossWords.without(tables.files[.frame].numbers(missingIn: tables.files[kind])),
        to: warnings)
    }
    guard let declared = tables.info?.declaredFrames else { return }
    let (difference, overflow) = declared.subtractingReportingOverflow(expected)
    warnings.add(
      .frameCountMismatch, "poses", count: overflow ? .max : abs(difference),
      "\(expected) frame files, \(declared) declared by \(ThreeDScannerAppFiles.infoName)")
  }

  func reportTimes() {
    let times = frames.frames.compactMap(\.timestamp)
    guard tables.rowFileCount > 0 else {
      warnings.add(
        .timestampsMissing, "frames", count: frames.frames.count,
        "no frame has a time without its frame file")
      return
    }
    // Exports of versions that write no time at all are whole.
    guard !times.isEmpty || tables.rows.values.contains(where: \.statesTime) else { return }
    warnings.add(
      .timestampsMissing, "frames", count: frames.picturesWithoutTime,
      "frames with a picture have no time: their frame file is absent, unreadable or states none"
        + (times.isEmpty ? " that is a number of seconds" : ""))
    let steps = TimeSteps(times)
    warnings.addOrder(of: steps, times: times.count)
  }
}

extension ThreeDScannerAppCapture {
  /// What stands for the tables of the frame files where these are absent.
  private func absence<Value>() -> StreamState<Value>? {
    if let problem = tables.problem { return .unreadable(problem) }
    return tables.rowFileCount == 0 ? .absent("no frame_*.json") : nil
  }

  /// The first intrinsics of any frame; `nil` if there are none.
  var anyIntrinsics: Intrinsics? {
    tables.sorted.lazy.compactMap(\.file.intrinsics).first
  }

  /// Poses in frame order.
  func poses() -> StreamState<PoseStream> {
    if let absence = absence() as StreamState<PoseStream>? { return absence }
    let files = tables.sorted
    let rows = PoseStream.Row.rows(files.map { ($0.frame, $0.file.pose) })
    let missing = files.count { $0.file.intrinsics == nil || $0.file.pose == .none }
    warnings.add(
      .missingKey, "poses", count: missing,
      "frame files without a pose of 16 or intrinsics of 9 numbers")
    warnings.addUnusable(
      files.map(\.file.pose),
      nonFinite: "poses with NaN or infinite numbers, or a last element of 0, have no row")
    func time(_ row: PoseStream.Row) -> Timestamp? { frames.frames[row.frame].timestamp }
    let timed = rows.filter { time($0) != nil }
    warnings.addPoseJumps(timed, timed.map(time))
    var description = StreamDescription(
      file: Self.pattern(.frame), encoding: "json", frames: rows.count,
      declaredFrames: tables.info?.declaredFrames)
    description.state(times: rows.map(time))
    return .present(PoseStream(description: description, rows: rows))
  }

  /// Each frame's own intrinsics, also of frames without picture.
  var intrinsics: StreamState<[IntrinsicsRow]> {
    if let absence = absence() as StreamState<[IntrinsicsRow]>? { return absence }
    let size = tables.color.head?.uprightSize
    return .present(
      tables.sorted.compactMap { frame, file in
        file.intrinsics.map { IntrinsicsRow(frame, $0, size) }
      })
  }

  /// Exposure times. ISO is not recorded.
  var cameraSettings: StreamState<CameraSettingsStream> {
    if let absence = absence() as StreamState<CameraSettingsStream>? { return absence }
    let rows = tables.sorted.map {
      CameraSettingsRow(frame: $0.frame, exposureSeconds: $0.file.exposureSeconds)
    }
    var description = StreamDescription(
      file: Self.pattern(.frame), encoding: "json", frames: rows.count)
    description.state(times: tables.sorted.map(\.file.time))
    return .present(CameraSettingsStream(description: description, rows: rows))
  }

  /// The positions of single frames, else the one of the whole scan at frame 0.
  var geo: StreamState<GeoStream> {
    let measured = tables.sorted.filter { $0.file.position != nil }
    var time = Timestamp(nanoseconds: 0)
    if !measured.isEmpty {
      let positions = measured.map { _, file in
        // A frame without time has a row without time; the track keeps its order.
        time = file.time ?? time
        return GeoPosition(
          timestamp: time, latitude: file.position?.latitude ?? 0,
          longitude: file.position?.longitude ?? 0, accuracy: file.position?.accuracy,
          altitude: file.position?.altitude)
      }
      var description = StreamDescription(
        file: Self.pattern(.frame), encoding: "json", frames: positions.count)
      description.state(times: measured.map(\.file.time))
      return .present(
        GeoStream(
          description: description, track: GeoTrack(positions: positions),
          coverage: .frames(measured.map(\.frame))))
    }
    guard let position = tables.info?.position else { return .absent("no position was recorded") }
    guard let first = frames.frames.first else {
      return .absent("no frame that the position belongs to")
    }
    let track = GeoTrack(positions: [
      GeoPosition(
        timestamp: first.timestamp ?? time, latitude: position.latitude,
        longitude: position.longitude, accuracy: nil, altitude: tables.info?.altitude)
    ])
    var description = StreamDescription(
      file: ThreeDScannerAppFiles.infoName, encoding: "json", frames: 1)
    description.state(times: [first.timestamp])
    return .present(GeoStream(description: description, track: track, coverage: .firstFrameOnly))
  }
}
