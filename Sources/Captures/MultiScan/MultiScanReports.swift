import Core
import SystemPackage

extension MultiScanCapture {
  /// Warns of missing files that the metadata declares or the mode always writes.
  func warnOfMissingFiles() {
    let metadata = contents.metadata
    if metadata == nil, contents.metadataProblem == nil {
      let why = contents.emptyMetadata.map { "\(PathText.shown($0)) is empty" }
      warnings.add(
        .missingFile, "metadata",
        "\(why ?? "no readable metadata"); the mode is determined from the files")
    }
    for (role, subject) in Self.declaredRoles {
      let declared = metadata?.streams.count { $0.role == role } ?? 0
      let isEmpty = role == .cameraInfo && hasEmptyCameraInfo
      warnings.add(
        .missingFile, subject, count: min(declared, role == .color ? 2 : 1) - fileCount(of: role),
        "the metadata declares \(subject), but the file is \(isEmpty ? "empty" : "missing")")
    }
    if contents.generation.writesMotion {
      if contents.files.motion.isEmpty {
        warnings.add(.imuMissing, "imu", "none of the five motion files is there")
      } else {
        for kind in MultiScanMotionKind.allCases where contents.files.motion[kind] == nil {
          warnings.add(.missingFile, "\(kind)", "no motion file .\(kind)")
        }
      }
    }
    warnings.add(
      .corruptRecord, "geo", count: metadata?.hasUnusablePosition == true ? 1 : 0,
      "gps_location is not two numbers, latitude and longitude in degrees: the capture has no position"
    )
    if contents.hasNoIntrinsics {
      warnings.add(.calibrationMissing, "color", "no intrinsics are recorded anywhere")
    }
  }

  private static var declaredRoles: [(MultiScanRole, String)] {
    [(.color, "color"), (.depth, "depth"), (.confidence, "confidence"), (.cameraInfo, "poses")]
  }

  private var hasEmptyCameraInfo: Bool {
    guard contents.files.cameraInfo != nil, case .absent = contents.cameraInfo else { return false }
    return true
  }

  private func fileCount(of role: MultiScanRole) -> Int {
    let files = contents.files
    let candidates: [String?] =
      switch role {
      case .color: [files.video, files.primaryVideo, files.secondaryVideo]
      case .depth: [files.depth]
      case .confidence: [files.confidence]
      case .cameraInfo: [hasEmptyCameraInfo ? nil : files.cameraInfo]
      case .motion(let kind): [files.motion[kind]]
      }
    return candidates.count { $0 != nil }
  }

  /// The files from which each part was read, including those that determine its size, unit or
  /// pairing.
  var filesOfParts: [CapturePart: [FilePath]] {
    let files = contents.files
    let metadata = [contents.metadataFile]
    let info = [contents.generation.writesCameraInfo ? files.cameraInfo : nil]
    let video = [files.colorVideo(in: contents.generation)]
    let motion = MultiScanMotionKind.allCases.map { files.motion[$0] }
    let isARCore = contents.generation == .androidARCore
    // Copies at the end are found by comparing depth and lines, and cut depth by longer confidence.
    let pairing = isARCore ? [files.depth, files.confidence] + info + metadata : []
    // Which frames pictures and lines have follows from the times of both, and from the number of depth frames; that
    // these are more than lines can be why pictures are those of the lines in order.
    let isJoined =
      !frames.pictures.arePlain
      || contents.generation.isLidar && frames.frames.count > frames.pairing.lines
    let joining = pairing + (isJoined ? video + info + [files.depth] : [])
    // The number of frames is that of the longest stream.
    let lengthening =
      contents.generation.writesCameraInfo && frames.frames.count <= frames.pairing.lines
      ? [] : video + [files.depth]
    let choosesTrack = (contents.color.value?.otherTracks ?? 0) > 0
    let constants =
      contents.constantIntrinsics == nil && contents.metadataProblem == nil ? [] : metadata
    let own: [CapturePart: (files: [String?], with: [String?])] = [
      .color: (
        video, (choosesTrack ? metadata : []) + (isJoined ? joining : [])
      ),
      .secondColor: (
        contents.generation == .iosDual ? [files.secondaryVideo] : [], video + motion + metadata
      ),
      .depth: ([files.depth], metadata + pairing),
      .confidence: ([files.confidence], metadata + pairing),
      .imu: (motion, metadata),
      .poses: (info, joining),
      .intrinsics: (info + constants, video + joining + metadata),
      .cameraSettings: (info, joining),
      .geo: (
        contents.metadata?.position == nil && contents.metadataProblem == nil ? [] : metadata, []
      ),
      .frames: (
        contents.generation.writesCameraInfo ? info : video + motion, joining + lengthening
      ),
      .calibration: (info + constants, video + joining + metadata),
    ]
    return own.compactMapValues { own, with in
      guard own.contains(where: { $0 != nil }) else { return nil }
      return Set((own + with).compactMap(\.self)).sorted().map(files.path(of:))
    }
  }
}

extension MultiScanTables {
  /// Whether there are never intrinsics, as in Android's plain mode.
  fileprivate var hasNoIntrinsics: Bool {
    let inLines = cameraInfo.value?.lines.contains { $0?.intrinsics != nil } ?? false
    return generation == .androidPlain || !(inLines || metadata?.color?.intrinsics != nil)
  }
}

extension MultiScanCapture {
  /// Compares counted lengths with what the app declared.
  ///
  /// A stream is compared with its declared count; without one, with the number of lines; without
  /// lines, with the largest stream. ARCore's own counts include copies and are not compared,
  /// except for color. An absent or unreadable stream has no length.
  func warnOfLengths() {
    let color = contents.color.value?.pictures
    let metadata = contents.metadata
    if contents.generation == .androidARCore {
      if let color, let declared = metadata?.color?.declaredFrames {
        compare(color, with: declared, subject: "color")
      }
      return
    }
    let depth = contents.depth.value?.survey.frames
    let confidence = contents.confidence.value?.survey.frames
    let lines = contents.linesInUse?.lines.count
    let counted: [(subject: String, count: Int?, declared: Int?)] = [
      ("color", color, metadata?.color?.declaredFrames),
      ("depth", depth, metadata?.first(.depth)?.declaredFrames),
      ("confidence", confidence, metadata?.first(.confidence)?.declaredFrames),
      ("poses", lines, metadata?.first(.cameraInfo)?.declaredFrames),
    ]
    let largest = counted.compactMap(\.count).max() ?? 0
    for (subject, count, declared) in counted {
      guard let count else { continue }
      let reference = declared ?? lines ?? largest
      compare(
        count, with: reference, subject: subject,
        places(of: subject, difference: count.subtractingReportingOverflow(reference).partialValue))
    }
    guard let color, let depth else { return }
    warnings.add(
      .colorShorterThanDepth, "color", count: depth - color,
      "the video has \(color) pictures, but depth has \(depth) frames")
    warnings.add(
      .depthShorterThanColor, "depth", count: color - depth,
      "depth has \(depth) frames, but the video has \(color) pictures")
  }

  /// Words on where items of a stream are missing, or that nothing says it.
  private func places(of subject: String, difference: Int) -> String? {
    let pictures = frames.pictures
    let unplaced = LossWords.unplaced(difference)
    switch subject {
    case "color" where pictures.way == .time && pictures.doubt == nil:
      let present = Set(pictures.frames)
      let missing = frames.frames.indices.filter { !present.contains($0) }
      return LossWords.pictures(missing, of: frames.frames.count)
    case "depth" where contents.depth.value?.survey.isCut == true: return nil
    case "confidence" where contents.confidence.value?.survey.isCut == true: return nil
    case "poses" where pictures.way == .time && pictures.doubt == nil && difference < 0: return nil
    case "color" where pictures.way == .time, "poses" where pictures.way == .time:
      return "the times of pictures and lines do not prove which are missing"
    default: return unplaced
    }
  }

  /// The number of frames is told where it explains both others: each lacks frames that the other one has.
  private func compare(
    _ count: Int, with reference: Int, subject: String, _ places: String? = nil
  ) {
    let (difference, overflow) = count.subtractingReportingOverflow(reference)
    let all = frames.frames.count
    warnings.add(
      .frameCountMismatch, subject, count: overflow ? .max : abs(difference),
      "\(count) found, \(reference) expected"
        + (all > max(count, reference) ? ", \(Plural.text(all, "frame")) in all" : "")
        + (places.map { ": " + $0 } ?? ""))
  }
}

extension MultiScanCapture {
  /// All samples of the motion files in the units of the output tables.
  func makeIMU() -> StreamState<IMUStream> {
    let kinds = MultiScanMotionKind.allCases
    let readable = kinds.compactMap { kind in
      contents.motion[kind]?.value.map { (kind: kind, file: $0) }
    }
    let errors = kinds.compactMap { contents.motion[$0]?.error }
    guard let firstName = readable.first.flatMap({ contents.files.motion[$0.kind] }) else {
      return errors.first.map { .unreadable($0) } ?? .absent("no motion files")
    }
    for error in errors {
      warnings.add(
        .unsupportedStream, "imu", "\(error.file.shownName) has no samples: \(error.problem)")
    }
    let android = contents.generation.isAndroid
    var samples: [IMUSample] = []
    samples.reserveCapacity(readable.reduce(0) { $0 + $1.file.records.count })
    var notFinite = 0
    for (sensor, (kind, file)) in readable.enumerated() {
      warnOfDamage(in: file, kind: kind)
      for record in file.records {
        let (x, y, z) = kind.values(of: record, android: android)
        guard x.isFinite, y.isFinite, z.isFinite else {
          notFinite += 1
          continue
        }
        samples.append(
          IMUSample(timestamp: record.timestamp, sensor: sensor, x: x, y: y, z: z))
      }
    }
    warnings.add(.nonFiniteValue, "imu", count: notFinite, "samples with NaN or infinity; left out")
    var (stream, duplicates) = IMUStream.sorting(
      samples, sensorNames: readable.map { $0.kind.sensorName(android: android) },
      description: motionDescription(firstName, samples: samples, file: readable.first?.file),
      convention: android ? .android : .coremotion)
    if !android { stream.recordedAcceleration = .g }
    if !stream.truncatedTimes.isEmpty {
      stream.description.rateHz = TimeSteps(stream.timestamps(ofSensor: 0)).rateHz
    }
    warnings.add(
      .timestampsDuplicate, "imu", count: duplicates.values.reduce(0, +),
      "samples at a time that the same sensor already has; left out")
    return .present(stream)
  }

  private func motionDescription(
    _ name: String, samples: [IMUSample], file: MultiScanMotionFile?
  ) -> StreamDescription {
    let encoding =
      switch file?.header?.encoding {
      case .bigEndian: "ply-binary-big-endian"
      case .text: "ply-ascii"
      case .littleEndian: "ply-binary-little-endian"
      case nil: contents.generation.isAndroid ? "binary-big-endian" : "binary-little-endian"
      }
    var description = StreamDescription(file: name, encoding: encoding, frames: samples.count)
    let declared = contents.motion.values.compactMap { $0.value?.header?.declaredRecords }
    description.declaredFrames =
      declared.isEmpty
      ? nil : declared.reduce(0) { $0.addingReportingOverflow($1).partialValue }
    description.firstTimestamp = samples.lazy.map(\.timestamp).min()
    description.lastTimestamp = samples.lazy.map(\.timestamp).max()
    let firstSensor = samples.lazy.filter { $0.sensor == 0 }.map(\.timestamp).sorted()
    description.rateHz = TimeSteps(firstSensor).rateHz
    return description
  }

  private func warnOfDamage(in file: MultiScanMotionFile, kind: MultiScanMotionKind) {
    if let header = file.header {
      if let declared = header.declaredRecords {
        warnings.add(
          .frameCountMismatch, "imu", count: abs(declared - file.recordCount),
          "the header of .\(kind) claims \(declared) records; \(file.recordCount) are there")
      }
    } else {
      warnings.add(
        .truncatedStream, "imu", "motion files without header: the app was killed; records are read"
      )
    }
    warnings.add(
      .corruptRecord, "imu", count: file.farOff,
      "records more than an hour away from all others in their file are left out")
    if file.hasPartialRecord {
      warnings.add(.imuPartialRecord, "imu", "bytes after the last complete record are ignored")
    }
  }
}

extension MultiScanMotionKind {
  /// The sensor type of a file's samples.
  func sensorName(android: Bool) -> String {
    switch self {
    case .rot: android ? "gyroscope" : "rotationRate"
    case .acce: android ? "accelerometer" : "userAcceleration"
    case .mag: "magnetometer"
    case .grav: "gravity"
    case .atti: "attitude"
    }
  }

  /// The values of a record in m/s², rad/s, µT or rad.
  ///
  /// iOS writes accelerations in g; Android's attitude is azimuth, pitch, roll in degrees, whatever
  /// the names of its properties. Everything else is stored in the unit of the tables.
  func values(
    of record: IMUSample, android: Bool
  ) -> (x: Double, y: Double, z: Double) {
    switch (self, android) {
    case (.acce, false), (.grav, false):
      let scale = AccelerationUnit.g.inMetersPerSecondSquared
      return (record.x * scale, record.y * scale, record.z * scale)
    case (.atti, true):
      return (record.z * .pi / 180, record.y * .pi / 180, record.x * .pi / 180)
    default:
      return (record.x, record.y, record.z)
    }
  }
}
