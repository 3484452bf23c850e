import Core
import Media
import SystemPackage

/// Builds the capture from the tables of its files: pairs frames, assigns times, builds the
/// streams. Each aspect is an extension. A `make…` function adds to `warnings`, so it must be
/// called only once.
struct MultiScanCapture {
  let contents: MultiScanTables
  let warnings: WarningCollector
  let frames: MultiScanFrames

  init(_ contents: MultiScanTables, warnings: WarningCollector) {
    var contents = contents
    self.warnings = warnings
    frames = MultiScanFrames(&contents)
    self.contents = contents
  }

  func capture() -> Capture {
    let files = contents.files
    var capture = Capture(
      id: files.stem, family: .multiscan, generation: contents.generation.rawValue,
      folder: files.folder, clock: clock)
    capture.device.id = contents.metadata?.deviceID
    capture.device.name = contents.metadata?.deviceName
    capture.device.model = contents.metadata?.deviceType
    capture.scene.type = contents.metadata?.sceneType
    capture.scene.description = contents.metadata?.sceneDescription
    capture.user = contents.metadata?.userName
    capture.recordedAt = MultiScanFiles.recordedAt(stem: files.stem)
    capture.frames = frames.frames
    capture.color = makeColor()
    (capture.secondColor, capture.secondIntrinsics) = makeSecondColor()
    capture.depth = makeDepth()
    capture.confidence = makeConfidence()
    capture.imu = makeIMU()
    capture.poses = makePoses()
    capture.intrinsics = intrinsics
    capture.cameraSettings = cameraSettings
    capture.geo = geo
    capture.alignment = alignment
    capture.files = filesOfParts
    capture.completeness = completeness
    warnOfMissingFiles()
    warnOfLengths()
    warnOfTimes()
    capture.warnings = warnings.warnings
    claim(&capture)
    return capture
  }

  /// Uptime if the app wrote any times, else the video's own clock.
  private var clock: CaptureClock {
    contents.linesInUse == nil && contents.earliestMotion == nil
      ? CaptureClock(.video, unit: "ns") : CaptureClock(.uptime, unit: "ns")
  }

  /// A description with the facts that all frame streams have.
  func description(
    _ file: String, encoding: String, width: Int?, height: Int?, frames: Int, declared: Int?,
    times: [Timestamp?]
  ) -> StreamDescription {
    var description = StreamDescription(
      file: file, encoding: encoding, width: width, height: height, frames: frames,
      declaredFrames: declared)
    description.state(
      times: times, steps: TimeSteps(ofNeighbors: times),
      gapFactor: MultiScanReader.description.frameGapFactor)
    return description
  }
}

extension MultiScanCapture {
  /// The lines that describe frames, with their frame numbers; broken ones are left out.
  private var lines: [(frame: Int, line: MultiScanCameraInfo.Line)] {
    (contents.linesInUse?.lines.prefix(frames.pairing.lines) ?? []).enumerated().compactMap {
      index, line in
      line.map { (frames.pictures.frame(ofLine: index), $0) }
    }
  }

  /// Poses from the lines' transforms. The stored quaternion is composed in another order and never
  /// used.
  func makePoses() -> StreamState<PoseStream> {
    guard contents.generation.writesCameraInfo else {
      return .absent("the mode records no poses")
    }
    return contents.cameraInfo.map { info in
      let described = lines
      var rows: [PoseStream.Row] = []
      var damaged = info.lines.prefix(frames.pairing.lines).count - described.count
      var missing = 0
      for (frame, line) in described {
        if let pose = line.transform.flatMap(Pose.init(arkitColumnMajor:)) {
          rows.append(PoseStream.Row(frame: frame, pose: pose))
        } else if line.hasTransform {
          damaged += 1
        } else {
          missing += 1
        }
      }
      warnings.add(
        .corruptRecord, "poses", count: damaged, "lines that are broken or hold no usable transform"
      )
      warnings.add(.missingKey, "poses", count: missing, "lines without transform")
      warnings.add(
        .missingKey, "frames", count: described.count { $0.line.timestamp == nil },
        "lines without a time that can be read")
      warnings.add(
        .missingKey, "intrinsics", count: described.count { $0.line.intrinsics == nil },
        "lines without usable intrinsics")
      let times = rows.map { frames.frames[$0.frame].timestamp }
      warnings.add(
        .poseJump, "poses", count: PoseBreak.countTimedJumps(rows: rows, times: times),
        "faster than 10 m/s from one frame to the next: tracking was lost or started again")
      let description = description(
        contents.files.cameraInfo ?? "", encoding: "jsonl", width: nil, height: nil,
        frames: rows.count, declared: contents.metadata?.first(.cameraInfo)?.declaredFrames,
        times: self.times(ofFrames: rows.map(\.frame)))
      return PoseStream(description: description, rows: rows)
    }
  }

  /// The canonical times, `nil` for all other frames.
  private func times(ofFrames described: [Int]) -> [Timestamp?] {
    var times = [Timestamp?](repeating: nil, count: frames.frames.count)
    for frame in described { times[frame] = frames.frames[frame].timestamp }
    return times
  }

  /// Exposure times. ISO is not recorded.
  var cameraSettings: StreamState<CameraSettingsStream> {
    guard contents.generation.writesCameraInfo else {
      return .absent("the mode records no camera settings")
    }
    return contents.cameraInfo.map { _ in
      let rows = lines.map { frame, line in
        CameraSettingsRow(frame: frame, exposureSeconds: line.exposureSeconds)
      }
      let description = description(
        contents.files.cameraInfo ?? "", encoding: "jsonl", width: nil, height: nil,
        frames: rows.count, declared: contents.metadata?.first(.cameraInfo)?.declaredFrames,
        times: times(ofFrames: rows.map(\.frame)))
      return CameraSettingsStream(description: description, rows: rows)
    }
  }
}

extension MultiScanCapture {
  /// One row per line if the mode writes lines, else the metadata's first value for every frame.
  var intrinsics: StreamState<[IntrinsicsRow]> {
    if let obstacle = contents.colorFit.obstacle { return .absent(obstacle) }
    let rows: [IntrinsicsRow]
    if contents.linesInUse != nil {
      rows = lines.compactMap { frame, line in line.intrinsics.map { row(frame, $0) } }
    } else if let constant = contents.constantIntrinsics {
      rows = frames.frames.indices.map { row($0, constant) }
    } else {
      rows = []
    }
    return rows.isEmpty ? .absent("no intrinsics are recorded") : .present(rows)
  }

  /// The camera before any turn: the first known value.
  var alignment: DepthCalibration? {
    guard contents.files.depth != nil else { return nil }
    var calibration = DepthCalibration(registered: true, colorFromDepth: .identity)
    let fit = contents.colorFit
    let first =
      contents.linesInUse == nil
      ? contents.constantIntrinsics : lines.lazy.compactMap(\.line.intrinsics).first
    if let first, fit.obstacle == nil {
      calibration.colorIntrinsics = fit.camera(first)
    }
    return calibration
  }

  /// A row with the intrinsics of the stored picture and the size of the upright one.
  private func row(_ frame: Int, _ values: Intrinsics) -> IntrinsicsRow {
    let size = contents.color.value?.track.storedSize ?? contents.metadata?.color?.resolution.size
    let turns = contents.color.value?.track.orientation.clockwiseQuarterTurns ?? 0
    return contents.colorFit.row(frame, values, turns % 2 == 0 ? size : size?.turned)
  }
}

extension MultiScanTables {

  /// How the app's intrinsics relate to the pictures of the video.
  var colorFit: ColorFit {
    ColorFit(stated: metadata?.color?.resolution.size, color.value?.track)
  }

  /// The metadata's value, which is the first frame's: for modes and captures without lines.
  var constantIntrinsics: Intrinsics? {
    linesInUse == nil && generation != .androidPlain ? metadata?.color?.intrinsics : nil
  }
}

extension MultiScanCapture {
  /// Adds claims about stream lengths: those of the metadata, those in the headers of motion files,
  /// and those between streams that correspond by index.
  ///
  /// ARCore's own counts include copies, and its depth starts late. If depth alone is cut, its
  /// length follows from the lines.
  func claim(_ capture: inout Capture) {
    let metadata = contents.metadata
    let color = contents.color.value?.pictures
    let depth = contents.depth.value?.survey.frames
    let confidence = contents.confidence.value?.survey.frames
    let lines = contents.linesInUse?.lines.count
    let declares = "number_of_frames"
    capture.claims.add(
      "color", held: color, declared: metadata?.color?.declaredFrames, by: declares)
    capture.claims.add(
      "color", held: color, declared: contents.color.value?.track.listedPictures,
      by: "the index of the video")
    if contents.generation == .androidARCore {
      if contents.depth.value?.survey.isCut == true {
        capture.claims.add("depth", held: depth, declared: lines, by: "the lines")
      }
      capture.claims.add("confidence", held: confidence, declared: depth, by: "the depth frames")
    } else {
      capture.claims.add(
        "depth", held: depth, declared: metadata?.first(.depth)?.declaredFrames, by: declares)
      capture.claims.add(
        "confidence", held: confidence,
        declared: metadata?.first(.confidence)?.declaredFrames, by: declares)
      capture.claims.add(
        "poses", held: lines, declared: metadata?.first(.cameraInfo)?.declaredFrames, by: declares)
      capture.claims.add([
        StreamReport("poses", "the lines", lines), StreamReport("depth", "the depth frames", depth),
        StreamReport("confidence", "the confidence frames", confidence),
        StreamReport(
          "color", "the pictures", held: color, length: color.map { _ in frames.pictures.length }),
      ])
    }
    capture.claims.add(
      "poses", held: contents.linesInUse?.lines.count { $0 != nil }, declared: lines,
      unit: "lines can be read", by: "its own records")
    claimMotion(&capture)
  }

  private func claimMotion(_ capture: inout Capture) {
    let files = MultiScanMotionKind.allCases.compactMap { kind in
      contents.motion[kind]?.value.map { (kind: kind, file: $0) }
    }
    let most = files.map(\.file.recordCount).max()
    for (kind, file) in files {
      capture.claims.add(
        "imu", held: file.recordCount, declared: file.header?.declaredRecords,
        unit: "records of .\(kind) are there", by: "its header")
      // The five files of iOS have the same times row by row; on Android each sensor has its own.
      if !contents.generation.isAndroid {
        capture.claims.add(
          "imu", held: file.recordCount, declared: most,
          unit: "records of .\(kind) are there", by: "the other motion files")
      }
    }
  }
}

extension MultiScanCapture {
  /// Builds the color stream. Pairing separately written files by index is approximate and causes a
  /// warning; an unreadable video causes none, because its error is reported.
  func makeColor() -> StreamState<ColorStream> {
    contents.color.then { video in
      let files = contents.files
      guard let name = files.colorVideo(in: contents.generation) else {
        return .absent("no video (.mp4)")
      }
      warnings.add(
        .multipleStreams, "color", count: video.otherTracks,
        "further video tracks of \(name) are not read")
      if let second = files.secondaryVideo, second != name {
        warnings.add(.multipleStreams, "color", "\(second) is not exported")
      }
      if video.endsEarly {
        warnings.add(
          .truncatedStream, "color",
          "\(name) ends before its own index says; what is there is used")
      }
      if video.track.orientation.isIgnored {
        warnings.add(
          .rotationIgnored, "color",
          "the rotation of \(name) is not a multiple of 90 degrees; it is not applied")
      }
      VideoOddities(video.track).report(to: warnings, beside: contents.colorFit)
      let hiddenDoubt = frames.pictures.doubt ?? hiddenTime(video)
      if pairsApproximately {
        warnings.add(
          .pairingApproximate, "color", count: video.pictures,
          "pictures are paired by index or by the start of the recording, not by a common clock"
            + (lengthDifference > 0 ? "; they \(LossWords.shifted(lengthDifference))" : "")
            + (hiddenDoubt.map { "; " + $0 } ?? ""))
      } else if let hiddenDoubt {
        warnings.add(.pairingApproximate, "color", count: video.pictures, hiddenDoubt)
      }
      var stream = description(
        name, encoding: video.track.encoding, width: video.track.uprightWidth,
        height: video.track.uprightHeight,
        frames: video.pictures, declared: contents.metadata?.color?.declaredFrames,
        times: frames.frames.map(\.colorTimestamp))
      stream.color = video.track.color
      // Without lines and depth, times begin with the first motion sample.
      let depthFrames = contents.files.depth == nil ? "motion samples" : "depth frames"
      stream.pairing = StreamPairing(
        way: frames.pictures.way, partners: contents.linesInUse == nil ? depthFrames : "lines",
        paired: frames.pictures.paired, items: video.pictures,
        isDoubtful: pairsApproximately || hiddenDoubt != nil)
      return .present(video.stream(stream, framesOfPictures: frames.pictures.frames))
    }
  }

  /// The pictures of the dual mode's second camera and its intrinsics. Both videos begin with the session, so a
  /// picture belongs to the one of the first camera that has its time.
  func makeSecondColor() -> (StreamState<ColorStream>, [IntrinsicsRow]) {
    guard contents.generation == .iosDual, let first = contents.color.value,
      let name = contents.files.secondaryVideo, name != first.name
    else { return (.absent("the capture has no second camera"), []) }
    let stated = contents.metadata?.secondColor
    do throws(CaptureError) {
      let second = try CaptureVideo(
        multiScan: contents.files.path(of: name), preferring: stated?.resolution ?? .absent)
      let match = StreamMatch(
        .times(second.pictureNanoseconds, tickNanoseconds: second.tickNanoseconds),
        with: .times(first.pictureNanoseconds, tickNanoseconds: first.tickNanoseconds),
        nouns: ("picture of the second camera", "picture of the first"), endTogether: true)
      let frames = match.rows.map { $0.map { self.frames.pictures.frames[$0] } ?? -1 }
      var description = second.description(declaredFrames: stated?.declaredFrames)
      description.pairing = StreamPairing(
        way: match.way, partners: "pictures of the first camera", paired: match.pairCount,
        items: second.pictures, isDoubtful: !match.isProved)
      let fit = ColorFit(stated: stated?.resolution.size, second.track)
      let stream = second.stream(description, framesOfPictures: frames)
      guard fit.obstacle == nil, let intrinsics = stated?.intrinsics else {
        return (.present(stream), [])
      }
      let rows = self.frames.frames.indices.map {
        fit.row($0, intrinsics, second.track.uprightSize)
      }
      return (.present(stream), rows)
    } catch {
      return (.unreadable(error), [])
    }
  }

  /// A message if pictures are timed from the start of the motion files and an edit list may hide
  /// that start.
  private func hiddenTime(_ video: CaptureVideo) -> String? {
    let hidden = video.track.hidden
    guard hidden.before > 0, contents.linesInUse == nil, contents.earliestMotion != nil else {
      return nil
    }
    return
      "the movie's edit list hides its first \(hidden.before) pictures: if motion was recorded from the first "
      + "of them on, times are \(HiddenStart.milliseconds(hidden.nanoseconds)) ms too early"
  }

  /// Between the lengths of pictures, lines and depth.
  private var lengthDifference: Int {
    let depth = frames.pairing.firstDepthFrame + frames.pairing.depthFrames
    let lengths = [frames.pictures.length, frames.pairing.lines, depth].filter { $0 > 0 }
    return (lengths.max() ?? 0) - (lengths.min() ?? 0) + frames.pairing.uncertainty
  }

  private var pairsApproximately: Bool {
    switch contents.generation {
    case .iosLidar, .iosLidar2020: false
    case .androidARCore, .iosStereo: true
    case .iosSingle, .iosDual, .androidPlain: contents.earliestMotion != nil
    }
  }
}

extension MultiScanCapture {
  /// Whether the app finished and all its files have arrived. The app writes metadata, motion
  /// headers, the video's index and the streams' end marks when the recording stops.
  var completeness: UploadCompleteness {
    var missing: [String] = []
    if contents.metadata == nil, contents.metadataProblem == nil {
      missing.append("The metadata is not there.")
    }
    let files = contents.files
    let declared = Set(contents.metadata?.streams.compactMap(\.role) ?? [])
    let generation = contents.generation
    if declared.contains(.color) || contents.metadata == nil, contents.color.isAbsent {
      missing.append("The video is not there.")
    }
    if generation == .iosDual, files.secondaryVideo == nil {
      missing.append("The second video is not there.")
    }
    if let error = contents.color.error {
      missing.append("The video is not finished: \(error.problem).")
    }
    if contents.color.value?.endsEarly == true {
      missing.append("The video ends before its own index says.")
    }
    let hasDepth = generation.writesCameraInfo || generation == .iosStereo
    if hasDepth { missing += Self.unfinished(contents.depth, "depth file") }
    if generation.writesCameraInfo {
      missing += Self.unfinished(contents.confidence, "confidence file")
      if contents.cameraInfo.isAbsent { missing.append("The camera info is not there.") }
    } else {
      for kind in MultiScanMotionKind.allCases {
        switch contents.motion[kind] {
        case nil: missing.append("The motion file .\(kind) is not there.")
        case .present(let file)? where file.header == nil:
          missing.append("The motion file .\(kind) has no header.")
        default: break
        }
      }
    }
    return UploadCompleteness(missing: missing, absentFiles: contents.absentEndings)
  }

  private static func unfinished(
    _ stream: StreamState<MultiScanSurveyedDepth>, _ name: String
  ) -> [String] {
    switch stream {
    case .absent: ["The \(name) is not there."]
    case .present(let stream) where stream.survey.isCut: ["The \(name) has no end mark."]
    case .present, .unreadable: []
    }
  }
}

extension MultiScanTables {
  /// Endings of missing files of a complete upload: the metadata, and the file of every stream that
  /// it declares. A camera info without content is missing; other streams without content are cut ones.
  var absentEndings: [String] {
    metadata?.endings(isDual: generation == .iosDual, hasAttitude: generation != .androidPlain)
      .filter { !files.has(ending: $0) || ($0 == ".jsonl" && cameraInfo.isAbsent) }
      ?? [generation == .androidPlain ? ".txt" : ".json"]
  }
}

extension MultiScanFiles {
  /// Whether the file with that ending exists. A name that leads to another folder is not an
  /// ending.
  fileprivate func has(ending: String) -> Bool {
    guard !ending.contains("/"), !ending.utf8.contains(0) else { return true }
    return FileSystem.exists(folder.appending(stem + ending))
  }
}

extension StreamState {
  fileprivate var isAbsent: Bool { if case .absent = self { true } else { false } }
}

extension MultiScanCapture {
  /// The single position that the app records at the start, at frame 0's time.
  var geo: StreamState<GeoStream> {
    guard let position = contents.metadata?.position, let file = contents.metadataFile else {
      return .absent("no position was recorded")
    }
    guard !frames.frames.isEmpty else { return .absent("no frame that the position belongs to") }
    let time = frames.frames.lazy.compactMap(\.timestamp).first ?? Timestamp(nanoseconds: 0)
    let track = GeoTrack(positions: [
      GeoPosition(
        timestamp: frames.frames.first?.timestamp ?? time, latitude: position.latitude,
        longitude: position.longitude, accuracy: nil)
    ])
    var description = StreamDescription(file: file, encoding: "json", frames: 1)
    description.firstTimestamp = frames.frames.first?.timestamp
    description.lastTimestamp = frames.frames.first?.timestamp
    return .present(GeoStream(description: description, track: track, coverage: .firstFrameOnly))
  }
}

extension MultiScanCapture {
  /// Warns of gaps and disorder of the canonical times, and of poses that move faster than a
  /// person.
  func warnOfTimes() {
    let steps = TimeSteps(ofNeighbors: frames.frames.map(\.timestamp))
    warnings.addGaps(steps, of: frames.frames.count, MultiScanReader.description, cause: nil)
    warnings.add(
      .timestampsUnordered, "frames",
      // Times that are the video's are reported with the video.
      count: contents.generation.writesCameraInfo ? steps.backward : 0,
      of: .size(frames.frames.count),
      "times that go backward; frames stay in the order of the file")
    warnings.add(
      .timestampsDuplicate, "frames", count: steps.repeated, "times equal to the one before")
  }
}
