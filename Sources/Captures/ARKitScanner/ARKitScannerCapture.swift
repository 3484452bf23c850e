import Core
import Media
import SystemPackage

/// Builds the capture from its tables: frames, streams and warnings.
struct ARKitScannerCapture {
  let contents: ARKitScannerTables
  let frames: ARKitScannerFrames
  let warnings = WarningCollector()

  init(_ contents: ARKitScannerTables) {
    self.contents = contents
    frames = ARKitScannerFrames(contents)
  }

  var sidecars: ARKitScannerSidecars { contents.sidecars }

  func capture(id: String) -> Capture {
    var capture = Capture(
      id: id, family: .arkitScanner, generation: contents.generation.rawValue,
      folder: contents.folder.path,
      clock: CaptureClock(sidecars.isNominal ? .nominal : .uptime, unit: "s"))
    capture.scene.label = contents.metadata.value?.sceneName
    capture.scene.type = contents.metadata.value?.sceneType
    capture.frames = frames.frames
    capture.color = color()
    capture.depth = depth()
    capture.confidence = .absent("the app records no confidence")
    capture.imu = imu()
    capture.poses = poses()
    capture.intrinsics = intrinsics()
    capture.cameraSettings = cameraSettings()
    capture.geo = .absent("the app records no positions")
    capture.alignment = alignment(intrinsics: capture.intrinsics.value)
    capture.files = files()
    capture.completeness = completeness()
    reportFiles()
    reportLengths()
    reportTimes()
    reportSizes()
    capture.warnings = warnings.warnings
    claim(&capture)
    return capture
  }

  /// Whether the counter of the pictures alone tells their frames. Otherwise these follow from the lengths of the
  /// other streams, too.
  private var picturesCountFromZero: Bool {
    guard let video = contents.video.value, video.pictureCount > 1 else { return false }
    return video.track.hidden.before == 0
      && video.sixtieths(from: 0)?.elementsEqual(0..<video.pictureCount) ?? false
  }

  /// The files from which each part was read.
  private func files() -> [CapturePart: [FilePath]] {
    let folder = contents.folder
    let video = [folder.videoFile].compactMap(\.self)
    let depth = [folder.depthFile].compactMap(\.self)
    let metadata = folder.has("metadata.json") ? ["metadata.json"] : []
    let tables = [CapturePart.poses, .intrinsics, .cameraSettings].compactMap { sidecars.files[$0] }
    let keys = sidecars.takesKeysOfAllTables ? tables.flatMap(\.self) : tables.first ?? []
    let matrices = sidecars.files[.intrinsics].map { $0 + video + metadata } ?? []
    let framing = keys + (sidecars.files[.frames] ?? []) + depth + video
    // Rows belong to keys, so every table also depends on the file with the keys.
    let named: [CapturePart: [String]] = [
      .color: video.isEmpty || picturesCountFromZero ? video : framing,
      .depth: depth + metadata,
      .imu: sidecars.files[.imu] ?? [],
      .poses: sidecars.files[.poses].map { $0 + keys } ?? [],
      .intrinsics: matrices + keys,
      .calibration: matrices + keys,
      .cameraSettings: sidecars.files[.cameraSettings].map { $0 + keys } ?? [],
      .frames: framing,
    ]
    return named.filter { !$0.value.isEmpty }
      .mapValues { Set($0).sorted().map(folder.path(of:)) }
  }
}

extension ARKitScannerCapture {
  /// The size of color pictures: that of the video, else that of the metadata.
  private func colorSize(_ ofVideo: KeyPath<VideoTrack, PictureSize>) -> PictureSize? {
    contents.video.value?.track[keyPath: ofVideo] ?? contents.metadata.value?.colorSize.size
  }

  /// How the app's intrinsics relate to the pictures of the video.
  var colorFit: ColorFit {
    ColorFit(stated: contents.metadata.value?.colorSize.size, contents.video.value?.track)
  }

  /// Rows hold the intrinsics of the stored picture and the size of the upright one.
  func intrinsics() -> StreamState<[IntrinsicsRow]> {
    let size = colorSize(\.uprightSize)
    let fit = colorFit
    switch sidecars.matrices {
    case .unreadable(let error): return .unreadable(error)
    case .absent(let why):
      warnings.add(.calibrationMissing, "color", "no intrinsics: \(why)")
      return .absent(why)
    case .present(let matrices):
      if let obstacle = fit.obstacle { return .absent(obstacle) }
      var nonFinite = 0
      let rows = matrices.enumerated().compactMap { frame, matrix -> IntrinsicsRow? in
        guard let matrix, matrix.count == 9 else { return nil }
        guard matrix.allSatisfy(\.isFinite) else {
          nonFinite += 1
          return nil
        }
        return fit.row(frame, Intrinsics(columnMajor: matrix), size)
      }
      let file = sidecars.files[.intrinsics]?.first ?? "intrinsics"
      warnings.add(
        .nonFiniteValue, "intrinsics", count: nonFinite,
        "intrinsics with NaN or infinite numbers have no row")
      if rows.isEmpty {
        warnings.add(.calibrationMissing, "color", "\(file) holds no intrinsics")
      } else if !sidecars.cutParts.contains(.intrinsics) {
        warnings.add(
          .missingKey, file, count: frames.keyCount - rows.count - nonFinite,
          "frames without readable intrinsics have no row")
      }
      return .present(rows)
    }
  }

  /// Depth and color share one camera. The first frame's intrinsics are used for all frames: they
  /// change by less than a pixel, and between registered pictures only the sizes matter.
  func alignment(intrinsics: [IntrinsicsRow]?) -> DepthCalibration? {
    guard contents.depth.value != nil else { return nil }
    return .sameCamera(intrinsics?.first?.camera, stored: colorSize(\.storedSize))
  }
}

extension ARKitScannerCapture {
  /// Adds claims about stream lengths: pictures, depth frames and poses correspond one to one; the
  /// other tables have an entry for each key of the poses.
  func claim(_ capture: inout Capture) {
    let poses = sidecars.poses.value?.count { $0 != .none && $0 != .malformed && $0 != .empty }
    let held = frames.keyCount > 0 ? poses : nil
    capture.claims.add([
      StreamReport("poses", "the poses", held),
      StreamReport(
        "color", "the pictures", held: frames.pictureCount,
        length: frames.framesOfPictures.last.map { $0 + 1 }),
      StreamReport("depth", "the depth frames", frames.depthCount),
    ])
    let keys = frames.keyCount > 0 ? frames.keyCount : nil
    for (stream, count) in [
      ("poses", poses), ("color", frames.pictureCount), ("depth", frames.depthCount),
    ] {
      capture.claims.add(stream, held: count, declared: keys, by: "the keys of the side files")
    }
    if sidecars.hasPosesWithoutKey, poses != nil {
      capture.claims.add("poses", held: 0, declared: frames.frameCount, by: "the other streams")
    }
    if let motion = sidecars.motion.value {
      let isLost = motion.samples.isEmpty
      // An entry of a released scene has up to three lists, which are counted one by one.
      let lost = contents.folder.isRelease ? 0 : motion.malformed + motion.empty
      capture.claims.add(
        "imu", held: isLost ? 0 : motion.entryCount - lost,
        declared: motion.entryCount + sidecars.keylessTables[.imu, default: 0],
        unit: "entries can be read", by: "its own entries")
    }
    let tables = [
      ("intrinsics", sidecars.matrices.value?.count { $0?.count == 9 }),
      ("cameraSettings", sidecars.offsets.value?.count { $0 != nil }),
      ("cameraSettings", sidecars.exposures.value?.count { $0 != nil }),
    ]
    for (stream, count) in tables {
      capture.claims.add(
        stream, held: count, declared: keys, unit: "entries are there", by: "the poses")
    }
    capture.claims.add(
      "color", held: frames.pictureCount, declared: contents.video.value?.track.listedPictures,
      by: "the index of the video")
  }
}

extension ARKitScannerCapture {
  /// Missing files with keys and settings that this generation writes when the recording is
  /// stopped. Motion has a warning of its own.
  var missingSideFiles: [String] {
    let folder = contents.folder
    let generation = contents.generation
    if folder.isRelease {
      return [ARKitScannerFiles.releasePoses].filter { !folder.has($0) }
    }
    if folder.usesPropertyLists {
      return [("_trans.xml", "trans.xml"), ("_offset.txt", "offset.txt")]
        .filter { folder.files(endingIn: $0.0).isEmpty }.map(\.1)
        + (folder.has("intri.xml") ? [] : ["intri.xml"])
    }
    var names = ["metadata.json", "trans.json"]
    if generation.writesIntrinsicsFile { names.append("intri.json") }
    names.append("offset.json")
    return names.filter { !folder.has($0) }
  }

  /// Whether this looks like a finished upload.
  func completeness() -> UploadCompleteness {
    let folder = contents.folder
    var missing = missingSideFiles.map { "\($0) \(folder.lack(of: $0))." }
    if !folder.isRelease, !folder.usesPropertyLists, !folder.has("imu.json") {
      missing.append("imu.json \(folder.lack(of: "imu.json")).")
    }
    if contents.generation.writesExif, !folder.has("exif.json") {
      missing.append("exif.json is not there.")
    }
    missing += sidecars.cutParts.sorted { $0.rawValue < $1.rawValue }.map {
      "\(sidecars.files[$0]?.first ?? $0.rawValue) is cut at its end."
    }
    if sidecars.exifIsOpen { missing.append("exif.json is not closed.") }
    switch contents.video {
    case .absent: missing.append("The video is not there.")
    case .unreadable(let error): missing.append(Self.sentence(error))
    case .present(let video) where video.endsEarly:
      missing.append("\(video.name) is cut at its end.")
    case .present: break
    }
    switch contents.depth {
    case .absent: missing.append("The depth file is not there.")
    case .unreadable(let error): missing.append(Self.sentence(error))
    case .present(let depth) where depth.isCut: missing.append("\(depth.name) is cut at its end.")
    case .present: break
    }
    let errors = [
      contents.metadata.error, sidecars.poses.error, sidecars.matrices.error,
      sidecars.offsets.error,
      sidecars.motion.error,
    ]
    return UploadCompleteness(
      missing: missing + errors.compactMap(\.self).map(Self.sentence), absentFiles: absentFiles)
  }

  /// Missing files among video, depth, poses, from `g2b` on the metadata, and from `g4` on the intrinsics, by this
  /// generation's names.
  private var absentFiles: [String] {
    let folder = contents.folder
    let generation = contents.generation
    var absent: [String] = []
    if folder.videoFile == nil { absent.append(generation.videoName) }
    if folder.depthFile == nil { absent.append(generation.depthName) }
    let hasPoses =
      folder.usesPropertyLists
      ? !folder.poseLists.isEmpty : folder.has(generation.poseName)
    if !hasPoses { absent.append(generation.poseName) }
    if generation.writesMetadata, !folder.has("metadata.json") {
      absent.append("metadata.json")
    }
    if generation.writesIntrinsicsFile, !folder.has("intri.json") { absent.append("intri.json") }
    return absent
  }

  private static func sentence(_ error: CaptureError) -> String {
    "\(error.file.shownName) cannot be read: \(error.problem)."
  }
}

extension ARKitScannerCapture {
  func imu() -> StreamState<IMUStream> {
    let file = sidecars.files[.imu]?.first ?? ""
    switch sidecars.motion {
    case .unreadable(let error): return .unreadable(error)
    case .absent(let why): return withoutMotion(why)
    case .present(let motion):
      guard motion.entryCount > 0 else { return withoutMotion("\(file) holds no entry") }
      warnings.add(
        .corruptRecord, "imu", count: motion.malformed,
        "motion entries that are not lists of the expected length are left out")
      warnings.add(.emptyRecord, "imu", count: motion.empty, "motion files of 0 bytes")
      warnings.add(
        .nonFiniteValue, "imu", count: motion.nonFinite,
        "samples with NaN or infinite values have no row")
      var description = StreamDescription(file: file, encoding: sidecars.encoding)
      description.firstTimestamp = motion.samples.map(\.timestamp).min()
      description.lastTimestamp = motion.samples.map(\.timestamp).max()
      var (stream, duplicates) = IMUStream.sorting(
        motion.samples, sensorNames: ARKitScannerMotion.sensors, description: description,
        convention: .coremotion)
      stream.recordedAcceleration = .g
      if !stream.sensors.isEmpty {
        stream.description.rateHz = TimeSteps(stream.timestamps(ofSensor: 0)).rateHz
      }
      for (sensor, count) in duplicates.sorted(by: { $0.key < $1.key }) {
        warnings.add(
          .timestampsDuplicate, sensor, count: count,
          "of several samples at the same time, the first is kept")
      }
      return .present(stream)
    }
  }

  private func withoutMotion(_ why: String) -> StreamState<IMUStream> {
    warnings.add(.imuMissing, "imu", "no motion samples: \(why)")
    return .absent(why)
  }
}

extension ARKitScannerCapture {
  /// Warns of files that are absent or damaged.
  func reportFiles() {
    for name in missingSideFiles {
      warnings.add(
        .missingFile, name,
        "\(name) \(contents.folder.lack(of: name)): the app writes it when recording stops")
    }
    if case .absent = contents.video {
      warnings.add(.missingFile, "color", "no video: color does not apply")
    }
    if case .absent = contents.depth {
      warnings.add(.missingFile, "depth", "no depth file: depth does not apply")
    }
    if contents.video.value?.track.orientation.isIgnored ?? false {
      warnings.add(
        .rotationIgnored, "color", "the video's display matrix is not a quarter turn: not applied")
    }
    if sidecars.exifIsOpen {
      warnings.add(
        .truncatedStream, "exif", "exif.json is not closed: its complete entries are used")
    }
    warnings.add(
      .corruptRecord, "exif", count: sidecars.exifBrokenLines,
      "lines of exif.json that are not entries, or that belong to another time, are left out")
    if let error = contents.metadata.error {
      warnings.add(.corruptRecord, "metadata.json", "\(error)")
    }
    for part in sidecars.cutParts.sorted(by: { $0.rawValue < $1.rawValue }) {
      let file = sidecars.files[part]?.first ?? part.rawValue
      warnings.add(
        .truncatedStream, part.rawValue, "\(file) breaks off: its complete entries are used")
    }
    for (part, count) in sidecars.farOff.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
      let file = sidecars.files[part]?.first ?? part.rawValue
      warnings.add(
        .corruptRecord, part.rawValue, count: count,
        "entries of \(file) more than an hour away from all others are left out")
    }
    for (part, count) in sidecars.keylessTables.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
      let file = sidecars.files[part]?.first ?? part.rawValue
      warnings.add(
        .corruptRecord, part.rawValue, count: count,
        "no key of \(file) is a time or a frame number, so all of its entries are lost")
    }
    for (file, count) in sidecars.unreadableKeys.sorted(by: { $0.key < $1.key }) {
      warnings.add(
        .unknownKey, file, count: count, "entries whose key is neither time nor frame number")
    }
  }

  /// Warns of streams whose length differs from the number of keys.
  func reportLengths() {
    let color = frames.pictureCount
    let depth = frames.depthCount
    let expected = frames.keyCount > 0 ? frames.keyCount : max(depth ?? 0, color ?? 0)
    if let color {
      warnings.add(
        .frameCountMismatch, "color", count: abs(color - expected),
        "\(color) pictures for \(expected) frames: "
          + pictures)
    }
    if let depth {
      warnings.add(
        .frameCountMismatch, "depth", count: abs(depth - expected),
        "\(depth) records for \(expected) frames: " + depthPairing(depth, expected))
    }
    if sidecars.isBaseDoubtful {
      warnings.add(
        .pairingApproximate, "frames", count: frames.keyCount,
        "the entries of the side files are numbered from 0 or from 1, and either the first or the last of them are "
          + "lost: all times and poses \(LossWords.shifted(1))")
    }
    let unseen = frames.unseenLossesOfDepth
    warnings.add(
      .pairingApproximate, "depth", count: unseen > 0 ? depth ?? 0 : 0,
      "as many records as entries of the side files, but the numbers of entries or pictures say that records are "
        + "missing: " + LossWords.unplaced(unseen))
    let unseenKeys = frames.unseenLossesOfKeys
    warnings.add(
      .pairingApproximate, "frames", count: unseenKeys > 0 ? frames.keyCount : 0,
      "as many entries of the side files as pictures, whose numbers say that entries are missing: "
        + LossWords.unplaced(unseenKeys))
    guard let color, let depth else { return }
    warnings.addDifference(color: color, "pictures", depth: depth, "depth records")
  }

  /// Words about pictures that are missing or have no key.
  private var pictures: String {
    guard let pairing = frames.pairing, pairing.way == .number, !pairing.isDoubtful else {
      return "paired by order"
    }
    let hasUnseenLosses =
      sidecars.framesWithKey == nil && frames.keyCount < frames.frameCount && frames.keyCount > 0
    return [
      LossWords.pictures(frames.framesWithoutPicture, of: frames.frameCount)
        .map { $0 + LossWords.startCut(frames.slack) },
      hasUnseenLosses ? unseenKeys : nil, keyless(frames.framesOfPictures),
    ].compactMap(\.self).joined(separator: "; ")
  }

  /// Says that some of the frames have no key; `nil` if all have one, or nothing has.
  private func keyless(_ numbers: some Sequence<Int>) -> String? {
    let withKey = sidecars.framesWithKey.map(Set.init)
    let without = numbers.filter { frame in
      withKey.map { !$0.contains(frame) } ?? (frame >= sidecars.times.count)
    }
    guard !without.isEmpty, frames.keyCount > 0 else { return nil }
    return "no side file has an entry for \(Plural.word(without.count, "frame")) "
      + NumberWords.list(without)
  }

  /// Keys that are times and in no file leave no hole.
  private var unseenKeys: String {
    "if entries of the side files are lost, the times and poses behind the first loss "
      + LossWords.shifted(frames.frameCount - frames.keyCount)
  }

  private func depthPairing(_ depth: Int, _ expected: Int) -> String {
    let isWholeFloatChain =
      if let file = contents.depth.value, case .framed(_, .deflate) = file.layout.kind {
        !file.isCut
      } else {
        false
      }
    guard depth < expected, isWholeFloatChain else {
      if depth > expected {
        return "paired by index from 0; "
          + (sidecars.framesWithKey == nil ? unseenKeys : keyless(0..<depth) ?? "")
      }
      let isEndLost = contents.depth.value?.isCut ?? false
      return isEndLost ? "paired by index from 0" : LossWords.unplaced(expected - depth)
    }
    return "the encoder failed and wrote nothing there, so later records belong to later frames; "
      + "where is not recorded, they are paired by index and \(LossWords.shifted(expected - depth))"
  }

  func reportTimes() {
    let known = sidecars.times.prefix(frames.frameCount).compactMap(\.self)
    if sidecars.isNominal {
      warnings.add(
        .timestampsMissing, "frames", count: frames.frameCount,
        "no times were recorded: frame k is taken to be at k/60 s")
    } else if sidecars.isKilled {
      let why = sidecars.hasPosesWithoutKey ? "no side file has a key that can be read" : nil
      warnings.add(
        .timestampsMissing, "frames", count: frames.frameCount - known.count,
        "frames without a time: \(why ?? "the app was killed before it wrote them")")
      warnings.add(
        .pairingApproximate, "frames", count: known.count,
        "times are those of exif.json in order: "
          + (why ?? "the app was killed before it wrote the pose file"))
    } else if sidecars.hasImplausibleKeys {
      warnings.add(
        .pairingApproximate, "frames", count: known.count,
        "the frame numbers of the side files are not plausible: entries are given to frames by their order"
      )
    } else if sidecars.lostKeysAreUnplaced {
      warnings.add(
        .pairingApproximate, "frames", count: known.count,
        "entries are lost, and which ones cannot be determined: pictures and depth may have a neighbor's time"
      )
    }
    if contents.generation == .scannetpp, !sidecars.isKilled {
      // Times that are far away from all others are told as damaged entries.
      warnings.add(
        .timestampsMissing, "frames",
        count: sidecars.times.count { $0 == nil } - sidecars.farOff[.poses, default: 0],
        "entries of \(ARKitScannerFiles.releasePoses) without a timestamp that is a number of seconds"
      )
    }
    warnings.addGaps(
      TimeSteps(ofNeighbors: Array(sidecars.times.prefix(frames.frameCount))),
      of: frames.frameCount, ARKitScannerReader.description)
  }

  func reportSizes() {
    if let depth = contents.depth.value {
      let size = depth.layout.size
      let used = "\(size.width)x\(size.height) is used"
      switch contents.metadata.value?.depthSize {
      case .invalid(let text):
        warnings.add(
          .sizeMismatch, "depth", "the metadata says \(text), which is not a size: \(used)")
      case .valid(let stated) where depth.layout.sizeDiffers:
        warnings.add(
          .sizeMismatch, "depth",
          "the metadata says \(stated.width)x\(stated.height), which the data does not fit: \(used)"
        )
      case .valid, .absent, nil: break
      }
    }
    switch contents.metadata.value?.colorSize {
    case .invalid(let text):
      warnings.add(.sizeMismatch, "color", "the metadata says \(text), which is not a size")
    case .valid, .absent, nil: break
    }
  }
}
