import Core
import Media
import SystemPackage

/// Pairs keys, depth records and pictures by their numbers. Pictures that an edit list hides have
/// keys as well.
struct ARKitScannerFrames {
  /// Frame of each displayed picture, increasing.
  let framesOfPictures: [Int]
  /// How pictures were paired; `nil` without a video.
  let pairing: StreamPairing?
  /// Why another pairing of the pictures may be the right one.
  let doubt: String?
  /// The value of `CountedPictures.slack`.
  private(set) var slack = 0
  private let hasPicture: Set<Int>
  private let contents: ARKitScannerTables

  init(_ contents: ARKitScannerTables) {
    self.contents = contents
    let sidecars = contents.sidecars
    let depth = contents.depth.value?.recordCount ?? 0
    guard let video = contents.video.value else {
      (framesOfPictures, pairing, doubt, hasPicture) = ([], nil, nil, [])
      return
    }
    let keys = sidecars.isKilled ? 0 : sidecars.times.count
    let length = max(keys, depth)
    let counted = CountedPictures(
      arkitScanner: video, frames: length, count: keys > 0 ? sidecars.keyCount : length)
    var way = counted.way
    if video.track.hidden.before > 0 {
      // The movie was trimmed: its counter begins anew, and only its distances are known.
      let start = HiddenStart(
        video.track.hidden, pictures: video.pictureCount,
        times: sidecars.times.isEmpty ? [Timestamp?](repeating: nil, count: depth) : sidecars.times)
      let first = counted.way == .number ? counted.frames.first ?? 0 : 0
      framesOfPictures = counted.frames.map { $0 - first + start.firstRow }
      doubt = start.doubt
      if counted.way == .rank { way = .rank }
    } else {
      framesOfPictures = counted.frames
      doubt = counted.doubt
      slack = counted.slack
    }
    hasPicture = Set(framesOfPictures)
    pairing = StreamPairing(
      way: way, partners: keys > 0 ? "keys of the side files" : "depth records",
      paired: framesOfPictures.count { $0 < length }, items: framesOfPictures.count,
      isDoubtful: doubt != nil)
  }

  /// Number of entries in the pose file; 0 when the app was killed before writing it.
  var keyCount: Int { contents.sidecars.keyCount }
  var depthCount: Int? { contents.depth.value?.recordCount }
  var pictureCount: Int? { contents.video.value?.pictureCount }
  var frameCount: Int {
    max(
      contents.sidecars.isKilled ? 0 : contents.sidecars.times.count, depthCount ?? 0,
      (framesOfPictures.last ?? -1) + 1)
  }

  /// How depth records were paired with keys.
  var recordPairing: StreamPairing? {
    guard let depthCount, keyCount > 0 else { return nil }
    guard let numbers = contents.sidecars.framesWithKey else {
      return .byRank(
        depthCount, with: "keys of the side files", keyCount,
        isDoubtful: depthCount != keyCount || unseenLossesOfDepth > 0)
    }
    // Records have no numbers: of a whole file with too few, any may be the one that was never written.
    let isEndLost = contents.depth.value?.isCut ?? false
    return StreamPairing(
      way: .number, partners: "keys of the side files", paired: numbers.count { $0 < depthCount },
      items: depthCount, isDoubtful: !isEndLost && depthCount <= numbers.last ?? -1)
  }

  /// The number of records that a whole file with as many records as keys lacks, which is not told by the number
  /// of either: the last key is that of a later frame, or the last of no more pictures.
  var unseenLossesOfDepth: Int {
    guard let depthCount, depthCount == keyCount, !(contents.depth.value?.isCut ?? false) else {
      return 0
    }
    let lastKey = contents.sidecars.framesWithKey?.last ?? -1
    return max(0, max(lastKey, lastPicture(ofUpTo: depthCount)) + 1 - depthCount)
  }

  /// The number of keys that are lost beside as many pictures and no more records: the last picture is that of a
  /// later frame. Keys that are numbers show it themselves.
  var unseenLossesOfKeys: Int {
    guard contents.sidecars.framesWithKey == nil, keyCount > 0, pictureCount == keyCount,
      depthCount ?? 0 <= keyCount
    else { return 0 }
    return max(0, lastPicture(ofUpTo: keyCount) + 1 - keyCount)
  }

  /// The number of the last of at most `count` pictures; -1 if there are more, or they are not numbered.
  private func lastPicture(ofUpTo count: Int) -> Int {
    guard let pairing, pairing.way == .number, framesOfPictures.count <= count else { return -1 }
    return framesOfPictures.last ?? -1
  }

  /// How keys were paired with depth records and pictures.
  var keyPairing: StreamPairing? {
    let records = max(depthCount ?? 0, (framesOfPictures.last ?? -1) + 1)
    guard records > 0, keyCount > 0 else { return nil }
    let partners = depthCount == nil ? "pictures" : "depth records"
    guard let numbers = contents.sidecars.framesWithKey else {
      return .byRank(keyCount, with: partners, records, isDoubtful: keyCount != records)
    }
    return StreamPairing(
      way: .number, partners: partners, paired: numbers.count { $0 < records }, items: keyCount,
      isDoubtful: contents.sidecars.isBaseDoubtful)
  }

  /// Frames before the last one of keys and records that have no picture.
  var framesWithoutPicture: [Int] {
    (0..<frameCount).filter { !hasPicture.contains($0) }
  }

  func time(ofFrame frame: Int) -> Timestamp? {
    frame < contents.sidecars.times.count ? contents.sidecars.times[frame] : nil
  }

  /// The canonical frames.
  var frames: [CaptureFrame] {
    (0..<frameCount).map { frame in
      let time = time(ofFrame: frame)
      let hasDepth =
        frame < depthCount ?? 0 && !(contents.depth.value?.isEmpty(record: frame) ?? true)
      return CaptureFrame(
        timestamp: time, colorTimestamp: hasPicture.contains(frame) ? time : nil,
        depthTimestamp: hasDepth ? time : nil)
    }
  }
}

extension CaptureVideo {
  /// Opens the first video track; the app writes one, and no audio. The container is detected by
  /// content.
  ///
  /// - Parameter keys: number of entries in the pose file, if any.
  init(arkitScanner path: FilePath, keys: Int) throws(CaptureError) {
    let video = try CaptureVideo(path, statedCounts: keys > 0 ? [keys] : [])
    guard let video, video.pictureCount > 0, video.track.storedWidth > 0,
      video.track.storedHeight > 0
    else {
      throw CaptureError(
        file: path, problem: "no pictures", remedy: "copy the file from the device again")
    }
    self = video
  }
}

extension CountedPictures {
  /// The app writes frame number / 60 as the time of a picture.
  ///
  /// - Parameters:
  ///   - frames: number of frames that keys and depth records have.
  ///   - count: number of those that have a key.
  init(arkitScanner video: CaptureVideo, frames: Int, count: Int) {
    self.init(
      video.sixtieths(from: 0), count: video.pictureCount, isFromStart: video.isFromStart,
      divider: 1, Partners(length: frames, count: count, has: { $0 < frames }))
  }
}

/// Motion samples in the units of the output tables.
struct ARKitScannerMotion {
  /// Sensor names by the index used in `samples`.
  static let sensors = [
    "rotationRate", "userAcceleration", "magnetometer", "attitude", "gravity",
  ]
  /// Conversion factors; the app writes accelerations in g.
  private static let scales = [
    1, AccelerationUnit.g.inMetersPerSecondSquared, 1, 1,
    AccelerationUnit.g.inMetersPerSecondSquared,
  ]

  private(set) var samples: [IMUSample] = []
  /// Number of entries, readable or not.
  private(set) var entryCount = 0
  /// Number of entries that are not a list of 15 numbers.
  private(set) var malformed = 0
  /// Number of entries whose file has 0 bytes.
  private(set) var empty = 0
  /// Number of samples left out because a value is NaN or infinite.
  private(set) var nonFinite = 0

  /// From five samples per entry: rotation rate, acceleration, magnetic field, attitude, gravity.
  init(_ table: ARKitScannerNumberTable) {
    samples.reserveCapacity(table.entries.count * Self.sensors.count)
    entryCount = table.entries.count
    for entry in table.entries {
      guard let numbers = entry.numbers, numbers.count == 15 else {
        if entry.isEmpty { empty += 1 } else { malformed += 1 }
        continue
      }
      for sensor in Self.sensors.indices {
        add(numbers[sensor * 3..<sensor * 3 + 3], sensor: sensor, at: entry.key)
      }
    }
  }

  /// From three samples per frame, at the frame's time; a frame without time has none.
  init(_ release: ARKitScannerRelease) {
    for (_, frame) in release.frames {
      guard let motion = frame.motion, let time = frame.time else { continue }
      entryCount += 1
      for (numbers, sensor) in zip(motion, [0, 1, 4]) {
        guard let numbers else { continue }
        if numbers.count == 3 {
          add(numbers[...], sensor: sensor, at: time)
        } else {
          malformed += 1
        }
      }
    }
  }

  private mutating func add(_ numbers: ArraySlice<Double>, sensor: Int, at time: Timestamp) {
    guard numbers.allSatisfy(\.isFinite) else {
      nonFinite += 1
      return
    }
    let values = numbers.map { $0 * Self.scales[sensor] }
    samples.append(
      IMUSample(timestamp: time, sensor: sensor, x: values[0], y: values[1], z: values[2]))
  }
}

extension ARKitScannerCapture {
  func color() -> StreamState<ColorStream> {
    contents.video.map { video in
      VideoOddities(video.track).report(to: warnings, beside: colorFit)
      warnings.add(
        .multipleStreams, "color", count: video.otherTracks,
        "further video tracks in \(video.name); not used")
      if video.endsEarly {
        warnings.add(
          .truncatedStream, "color",
          "\(video.name) ends before its own index says; what is there is used")
      }
      var description = video.description()
      describe(
        times: frames.framesOfPictures.compactMap { frames.time(ofFrame: $0) }, in: &description)
      warnings.add(
        .pairingApproximate, "color", count: frames.doubt == nil ? 0 : video.pictureCount,
        frames.doubt ?? "")
      description.pairing = frames.pairing
      return video.stream(description, framesOfPictures: frames.framesOfPictures)
    }
  }

  func depth() -> StreamState<DepthStream> {
    contents.depth.map { depth in
      depth.report(to: warnings)
      let size = depth.layout.size
      var description = StreamDescription(
        file: depth.name, encoding: depth.layout.encoding, width: size.width,
        height: size.height, frames: depth.recordCount)
      describe(times: times(ofFirst: depth.recordCount), in: &description)
      description.pairing = frames.recordPairing
      return DepthStream(
        description: description, width: size.width, height: size.height, access: depth.access)
    }
  }

  func poses() -> StreamState<PoseStream> {
    sidecars.poses.map { readings in
      let rows = PoseStream.Row.rows(zip(0..., readings))
      let nonFinite = readings.count { $0 == .nonFinite }
      let malformed = readings.count { $0 == .malformed }
      let empty = readings.count { $0 == .empty }
      warnings.add(
        .nonFiniteValue, "poses", count: nonFinite,
        "poses with NaN or infinite numbers have no row; their frames are kept")
      warnings.add(
        .corruptRecord, "poses", count: malformed,
        "poses that are not 4x4 matrices have no row; their frames are kept")
      warnings.add(
        .emptyRecord, "poses", count: empty, "files of 0 bytes have no row; their frames are kept")
      // A published ScanNet++ folder has poses for the frames that could be registered, by design.
      if !sidecars.cutParts.contains(.poses), !contents.folder.isRelease {
        warnings.add(
          .missingKey, "poses",
          count: frames.keyCount - rows.count - nonFinite - malformed - empty
            - sidecars.farOff[.poses, default: 0],
          "frames without a pose have no row")
      }
      warnings.addPoseJumps(
        rows, rows.map { frames.time(ofFrame: $0.frame) }, PoseBreak.countJumps)
      var description = StreamDescription(
        file: sidecars.files[.poses]?.first ?? "", encoding: sidecars.encoding, frames: rows.count)
      describe(times: rows.compactMap { frames.time(ofFrame: $0.frame) }, in: &description)
      description.pairing = frames.keyPairing
      return PoseStream(description: description, rows: rows, world: sidecars.world)
    }
  }

  func cameraSettings() -> StreamState<CameraSettingsStream> {
    if let error = sidecars.offsets.error ?? sidecars.exposures.error { return .unreadable(error) }
    let (offsets, exposures) = (sidecars.offsets.value, sidecars.exposures.value)
    guard frames.keyCount > 0, offsets != nil || exposures != nil else {
      return .absent("neither exposure offsets nor exposures are recorded")
    }
    var nonFinite = 0
    let rows = (sidecars.framesWithKey ?? Array(0..<frames.keyCount)).map { frame in
      let offset = offsets?[frame]
      let exposure = exposures?[frame]
      if let offset, !offset.isFinite { nonFinite += 1 }
      return CameraSettingsRow(
        frame: frame, exposureSeconds: finite(exposure?.exposureSeconds),
        iso: finite(exposure?.iso), exposureOffsetEV: finite(offset))
    }
    warnings.add(
      .nonFiniteValue, "cameraSettings", count: nonFinite,
      "exposure offsets that are NaN or infinite are left empty")
    let file = sidecars.files[.cameraSettings]?.first ?? ""
    if offsets != nil, !sidecars.cutParts.contains(.cameraSettings) {
      warnings.add(
        .missingKey, "cameraSettings",
        count: rows.count - (offsets ?? []).count { $0 != nil }
          - sidecars.farOff[.cameraSettings, default: 0],
        "frames without an exposure offset have an empty cell")
    }
    return .present(
      CameraSettingsStream(
        description: StreamDescription(file: file, encoding: sidecars.encoding, frames: rows.count),
        rows: rows))
  }

  private func finite(_ value: Double?) -> Double? {
    value.flatMap { $0.isFinite ? $0 : nil }
  }

  /// The known times of the first `count` frames.
  private func times(ofFirst count: Int) -> [Timestamp] {
    sidecars.times.prefix(count).compactMap(\.self)
  }

  private func describe(times: [Timestamp], in description: inout StreamDescription) {
    guard !times.isEmpty else { return }
    description.state(
      times: times, gapFactor: ARKitScannerReader.description.frameGapFactor)
  }
}
