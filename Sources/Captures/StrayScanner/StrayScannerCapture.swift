import Core
import Media
import SystemPackage

/// Builds the capture from its tables and frames. A function that adds to `warnings` must be called
/// once only.
struct StrayScannerCapture {
  let tables: StrayScannerTables
  let frames: StrayScannerFrames
  let warnings: WarningCollector

  func capture(id: String) throws(CaptureError) -> Capture {
    try refuseEmpty()
    var capture = Capture(
      id: id, family: .strayScanner, generation: tables.generation.rawValue,
      folder: tables.files.folder, clock: CaptureClock(clockBase, unit: "s"))
    // Motion has the device's clock.
    capture.framesShareIMUClock = clockBase == .uptime
    capture.frames = frames.frames
    capture.framesProblem = tables.odometry.error
    capture.color = color()
    capture.depth = stream(tables.depth, in: StrayScannerFiles.depthName)
    capture.confidence = stream(tables.confidence, in: StrayScannerFiles.confidenceName)
    capture.poses = poses()
    capture.intrinsics = intrinsics()
    capture.imu = imu()
    capture.cameraSettings = .absent("the app records no camera settings")
    capture.geo = .absent("the app records no positions")
    if tables.depth.value != nil {
      capture.alignment = .sameCamera(
        anyIntrinsics, stored: tables.color.value?.track.storedSize)
    }
    reportFiles()
    reportAspect()
    reportLengths()
    reportTimes()
    capture.warnings = warnings.warnings
    capture.warn(ofLinksOutside: tables.files.outside)
    capture.files = filesOfParts
    capture.completeness = completeness
    claim(&capture)
    return capture
  }

  private var clockBase: CaptureClock.Base {
    guard tables.generation == .early else { return .uptime }
    return frames.frameOfPicture.isEmpty ? .nominal : .video
  }

  private func stream<Pixel>(
    _ files: StreamState<PictureFiles<Pixel>>, in folder: String
  ) -> StreamState<PictureStream<Pixel>> {
    files.map {
      PictureStream(
        $0, folder: folder, of: frames.frames,
        gapFactor: StrayScannerReader.description.frameGapFactor)
    }
  }

  private func color() -> StreamState<ColorStream> {
    tables.color.map { video in
      VideoOddities(video.track).report(to: warnings)
      if video.track.orientation.isIgnored {
        warnings.add(
          .rotationIgnored, "color",
          "the rotation of \(video.name) is not a multiple of 90 degrees; it is not applied")
      }
      var description = video.description()
      describe(frames.frames.map(\.colorTimestamp), in: &description)
      description.pairing = frames.pairing
      return video.stream(description, framesOfPictures: frames.frameOfPicture)
    }
  }

  /// Adds the times of a stream, `nil` for frames that it lacks.
  func describe(_ times: [Timestamp?], in description: inout StreamDescription) {
    description.state(times: times, gapFactor: StrayScannerReader.description.frameGapFactor)
  }

  private func refuseEmpty() throws(CaptureError) {
    guard frames.frames.isEmpty, tables.color.value == nil, tables.motion.value == nil else {
      return
    }
    if let error = tables.odometry.error ?? tables.color.error ?? tables.depth.error
      ?? tables.confidence.error ?? tables.motion.error
    {
      throw error
    }
    throw CaptureError(
      file: tables.files.folder, problem: "neither a picture nor a row nor an IMU sample",
      remedy: "check whether the upload is complete")
  }
}

extension StrayScannerCapture {
  /// The files from which each part was read. Which frame a picture of the video is also follows
  /// from the rows.
  var filesOfParts: [CapturePart: [FilePath]] {
    let files = tables.files
    let video = files.existing([StrayScannerFiles.videoName])
    let rows = files.existing([StrayScannerFiles.odometryName])
    let matrix = files.existing([StrayScannerFiles.matrixName])
    let numbered = numberedFiles
    let parts: [CapturePart: [FilePath]] = [
      .color: video.isEmpty ? [] : video + rows + numbered,
      .depth: tables.depth.value?.paths ?? [],
      .confidence: tables.confidence.value?.paths ?? [],
      .imu: files.existing([StrayScannerFiles.motionName]),
      .frames: rows + video + numbered,
      .poses: rows,
      .intrinsics: rows + matrix + video,
      .calibration: rows + matrix + video,
    ]
    return parts.filter { !$0.value.isEmpty }
  }

  /// The files of depth and confidence whose names tell which frames there are and which of them the pictures have:
  /// none if each frame has a row. Up to 2021, the first file of depth tells whether the times of the pictures count
  /// frames; without any, motion does.
  private var numberedFiles: [FilePath] {
    let depth = tables.depth.value?.paths ?? []
    let rows = tables.odometry.value?.rows ?? []
    let isWhole = rows.enumerated().allSatisfy { $0.offset == $0.element.frame }
    guard isWhole, rows.count == frames.frames.count else {
      return depth + (tables.confidence.value?.paths ?? [])
    }
    guard !depth.isEmpty else { return tables.files.existing([StrayScannerFiles.motionName]) }
    return [.npy, .png].contains(tables.generation) ? Array(depth.prefix(1)) : []
  }

  /// The app writes the camera matrix when the user stops the recording, and the video's index
  /// then.
  var completeness: UploadCompleteness {
    var missing: [String] = []
    var absent: [String] = []
    for name in [
      StrayScannerFiles.videoName, StrayScannerFiles.odometryName, StrayScannerFiles.motionName,
      StrayScannerFiles.matrixName,
    ] where !tables.files.contains(name) || hasNoRows(name) {
      if name == StrayScannerFiles.motionName, !tables.generation.writesMotion { continue }
      absent.append(name)
    }
    if case .absent = tables.depth { absent.append(StrayScannerFiles.depthName + "/") }
    if case .absent = tables.confidence, tables.generation.writesConfidence {
      absent.append(StrayScannerFiles.confidenceName + "/")
    }
    missing += absent.map { "\($0) is not there." }
    if let error = tables.color.error {
      missing.append("The video is not finished: \(error.problem).")
    }
    if tables.color.value?.endsEarly == true {
      missing.append("The video ends before its own index says.")
    }
    if tables.isOdometryCut {
      missing.append("\(StrayScannerFiles.odometryName) ends inside a line.")
    }
    if tables.isMotionCut { missing.append("\(StrayScannerFiles.motionName) ends inside a line.") }
    return UploadCompleteness(missing: missing, absentFiles: absent)
  }

  /// Whether a table says as much as one that is not there.
  private func hasNoRows(_ name: String) -> Bool {
    switch name {
    case StrayScannerFiles.odometryName: if case .absent = tables.odometry { true } else { false }
    case StrayScannerFiles.motionName: if case .absent = tables.motion { true } else { false }
    case StrayScannerFiles.matrixName: tables.matrix == nil
    default: false
    }
  }

  /// Adds claims about stream lengths: streams and rows correspond by number.
  func claim(_ capture: inout Capture) {
    let color = tables.color.value
    capture.claims.add(
      "color", held: color?.pictureCount, declared: color?.track.listedPictures,
      by: "the index of the video")
    capture.claims.add(
      [StreamReport("poses", "the rows", tables.odometry.value?.rows.count)] + streams)
  }

  private var streams: [StreamReport] {
    let (depth, confidence) = (tables.depth.value, tables.confidence.value)
    return [
      StreamReport(
        "depth", "the depth files", held: depth?.fileCount, length: depth?.numberCount),
      StreamReport(
        "confidence", "the confidence files", held: confidence?.fileCount,
        length: confidence?.numberCount),
      StreamReport(
        "color", "the pictures", held: tables.color.value?.pictureCount,
        length: frames.frameOfPicture.last.map { $0 + 1 } ?? 0),
    ]
  }
}

extension StrayScannerCapture {
  /// Warns of absent and damaged files.
  func reportFiles() {
    if case .absent(let why) = tables.color { warnings.add(.missingFile, "color", why) }
    if case .absent(let why) = tables.depth { warnings.add(.missingFile, "depth", why) }
    if case .absent(let why) = tables.confidence, tables.generation.writesConfidence {
      warnings.add(.missingFile, "confidence", why)
    }
    if case .absent(let why) = tables.motion { warnings.add(.imuMissing, "imu", why) }
    if case .absent(let why) = tables.odometry { warnings.add(.missingFile, "poses", why) }
    for (isCut, subject) in [(tables.isOdometryCut, "poses"), (tables.isMotionCut, "imu")] {
      warnings.addCut(subject, isCut)
    }
    for (pictures, subject) in [
      (tables.files.depth.value, "depth"), (tables.files.confidence.value, "confidence"),
    ] {
      warnings.addLinksOutside(subject, pictures?.outside ?? 0, of: "pictures")
    }
    guard let odometry = tables.odometry.value else { return }
    odometry.damage.report(
      to: warnings, "poses",
      "rows that are broken, or whose time or number is far away from all others")
    warnings.addUnknown(columns: odometry.unknownColumns, "poses")
  }

  /// Warns of depth of another aspect than the pictures: one camera takes both, so one of them shows less.
  private func reportAspect() {
    ColorFit.reportAspect(
      ofDepth: tables.depth.value?.size, with: tables.color.value?.track.storedSize, to: warnings)
  }

  /// Warns of streams whose length differs from the number of frames with a row; without rows, from
  /// the greatest stream.
  func reportLengths() {
    let rows = tables.odometry.value?.rows.count
    let expected = rows ?? streams.compactMap(\.held).max() ?? 0
    for report in streams.suffix(1) + streams.dropLast() {
      let isColor = report.subject == "color"
      let way = isColor ? frames.pairing?.way ?? .number : .number
      let missing = isColor ? picturesMissing : nil
      let how =
        missing.flatMap { LossWords.pictures($0, of: frames.frames.count) }
        .map { $0 + LossWords.startCut(frames.slack) } ?? "paired by \(way.rawValue)"
      report.tell(
        "pictures", expected: expected, rows == nil ? "frames" : "rows",
        how + filesMissing(report.subject), to: warnings)
    }
    let (color, depth) = (tables.color.value?.pictureCount, tables.depth.value?.fileCount)
    warnings.add(
      .pairingApproximate, "color", count: frames.doubt == nil ? 0 : color ?? 0, frames.doubt ?? "")
    guard let color, let depth else { return }
    warnings.addDifference(color: color, "pictures", depth: depth, "depth files")
  }

  /// The rows' frames that lack a depth or confidence file.
  private func filesMissing(_ stream: String) -> String {
    let rows = tables.odometry.value?.rows.map(\.frame) ?? []
    switch stream {
    case "depth":
      return LossWords.without(rows.filter { !(tables.depth.value?.hasFile($0) ?? true) })
    case "confidence":
      return LossWords.without(rows.filter { !(tables.confidence.value?.hasFile($0) ?? true) })
    default: return ""
    }
  }

  /// Rows without picture, where the keys prove which; `nil` without rows or proof.
  private var picturesMissing: [Int]? {
    guard let rows = tables.odometry.value?.rows, let pairing = frames.pairing,
      pairing.way != .rank, !pairing.isDoubtful
    else { return nil }
    return frames.framesWithoutPicture(rows)
  }

  func reportTimes() {
    guard tables.odometry.error == nil else { return }
    guard let odometry = tables.odometry.value else {
      warnings.add(
        .timestampsMissing, "frames", count: frames.frames.count,
        "no frame has a time without \(StrayScannerFiles.odometryName)")
      return
    }
    if tables.generation == .early {
      warnings.add(
        .timestampsMissing, "frames", count: frames.frames.count,
        "no times are recorded: those of the frames are "
          + (frames.frameOfPicture.isEmpty ? "nominal, 60 per second" : "the video's"))
    } else {
      warnings.add(
        .timestampsMissing, "frames", count: frames.framesWithoutRow,
        "frames with a picture but without a row have no time")
    }
    warnings.add(
      .timestampsDuplicate, "frames", count: odometry.repeated,
      "rows of a frame that an earlier row already has; the first is kept")
    // Early rows behind the last picture have no time.
    let times = odometry.rows.compactMap { frames.frames[$0.frame].timestamp }
    let steps = TimeSteps(times)
    warnings.addOrder(of: steps, times: times.count)
    warnings.addGaps(steps, of: frames.frames.count, StrayScannerReader.description)
  }
}

extension StrayScannerCapture {
  /// Poses in frame order. The app wrote OpenCV's camera axes.
  func poses() -> StreamState<PoseStream> {
    tables.odometry.map { odometry in
      let found = odometry.rows.compactMap { row in
        row.pose.map { (row: PoseStream.Row(frame: row.frame, pose: $0), time: row.time) }
      }
      warnings.add(
        .nonFiniteValue, "poses", count: odometry.nonFinite,
        "poses with NaN or infinite numbers have no row; their frames are kept")
      let untracked = PoseStream.Row.untrackedStart(found.map(\.row))
      warnings.add(
        .untrackedPoses, "poses", count: untracked > 1 ? untracked : 0,
        "rows at the start are at 0, 0, 0: tracking had not begun, only their rotation is real")
      let tracked = found.dropFirst(untracked)
      warnings.addPoseJumps(tracked.map(\.row), tracked.map(\.time))
      var description = StreamDescription(
        file: StrayScannerFiles.odometryName, encoding: "csv", frames: found.count)
      describe(found.map(\.time), in: &description)
      return PoseStream(description: description, rows: found.map(\.row))
    }
  }

  /// The row's own intrinsics, else those of the camera matrix, for every frame with a row.
  func intrinsics() -> StreamState<[IntrinsicsRow]> {
    let track = tables.color.value?.track
    if let error = tables.odometry.error { return .unreadable(error) }
    guard anyIntrinsics != nil else {
      warnings.add(.calibrationMissing, "color", "no intrinsics are recorded")
      return .absent("neither \(StrayScannerFiles.matrixName) nor a row has intrinsics")
    }
    let size = track?.uprightSize
    return .present(
      (tables.odometry.value?.rows ?? []).compactMap { row in
        (row.intrinsics ?? tables.matrix).map {
          IntrinsicsRow(row.frame, $0, size)
        }
      })
  }

  /// The first intrinsics of any frame; `nil` if there are none.
  var anyIntrinsics: Intrinsics? {
    tables.odometry.value?.rows.lazy.compactMap(\.intrinsics).first ?? tables.matrix
  }

  /// Samples in the units of the output tables. Both sensors of a row have one time, so rows are
  /// what warnings count.
  func imu() -> StreamState<IMUStream> {
    tables.motion.map { motion in
      reportOrder(of: motion)
      let (samples, sensors) = motion.samples
      var (stream, duplicates) = IMUStream.sorting(
        samples, sensorNames: sensors,
        description: StreamDescription(file: StrayScannerFiles.motionName, encoding: "csv"),
        convention: .coremotion)
      if motion.isInGravities { stream.recordedAcceleration = .g }
      warnings.add(
        .timestampsDuplicate, "imu", count: duplicates.values.max() ?? 0,
        "rows at the time of an earlier one; the first in the file was kept")
      let times = stream.timestamps(ofSensor: 0)
      let steps = TimeSteps(times)
      let threshold = stream.gapThresholdNanoseconds.first ?? .max
      let gaps = steps.nanoseconds.count { $0 > threshold }
      warnings.add(
        .imuGap, "imu", count: gaps, "steps longer than \(threshold / 1_000_000) ms")
      stream.description.rateHz = steps.rateHz
      stream.description.gaps = gaps
      stream.description.firstTimestamp = times.first
      stream.description.lastTimestamp = times.last
      reportFramesOutside(times)
      return stream
    }
  }

  private func reportOrder(of motion: StrayScannerMotion) {
    var order = TimeOrder()
    for row in motion.rows { order.add(row.time) }
    order.report(to: warnings, subject: "imu")
    motion.damage.report(to: warnings, "imu")
    warnings.add(
      .nonFiniteValue, "imu", count: motion.damage.nonFinite, "rows with a value that is not finite"
    )
    warnings.addUnknown(columns: motion.unknownColumns, "imu")
  }

  /// The app's IMU starts after the first frame and ends before or after the last: frames within a
  /// quarter of a second of a sample are not reported.
  private func reportFramesOutside(_ samples: [Timestamp]) {
    let tolerance: Int64 = 250_000_000
    guard tables.generation != .early, let first = samples.first, let last = samples.last else {
      return
    }
    let times = frames.frames.compactMap(\.timestamp)
    var outside = FramesOutside(frames: times.count, rateHz: TimeSteps(times).rateHz)
    outside.before = times.count { first - $0 > tolerance }
    outside.after = times.count { $0 - last > tolerance }
    warnings.add(
      .imuOutsideFrames, "imu", count: outside.count, of: .ends(outside),
      "frames more than 250 ms before the first or after the last sample")
  }
}
