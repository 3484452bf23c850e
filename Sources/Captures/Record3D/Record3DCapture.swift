import Core
import Media
import SystemPackage

/// Builds the capture from its tables and frames. A function that adds to `warnings` must be called
/// once only.
struct Record3DCapture {
  let tables: Record3DTables
  let frames: Record3DFrames
  let warnings: WarningCollector

  func capture(id: String) throws(CaptureError) -> Capture {
    try refuseEmpty()
    let files = tables.files
    let clock = CaptureClock(frames.hasRecordedTimes ? .recordingStart : .nominal, unit: "s")
    var capture =
      files.archive == nil
      ? Capture(
        id: id, family: .record3D, generation: files.generation.rawValue, folder: files.path,
        clock: clock)
      : Capture(
        id: id, family: .record3D, generation: files.generation.rawValue, file: files.path,
        clock: clock)
    capture.recordedAt = Self.recordedAt(id)
    capture.frames = frames.frames
    if case .unreadable(let error) = tables.metadata { capture.framesProblem = error }
    capture.color = color
    capture.depth = stream(tables.depth, in: files.generation.depthFolder)
    capture.confidence = stream(tables.confidence, in: files.generation.depthFolder)
    capture.poses = poses()
    capture.intrinsics = intrinsics()
    capture.imu = .absent("the app records no IMU")
    capture.cameraSettings = .absent("the app records no camera settings")
    capture.geo = .absent("the app records no positions")
    if tables.depth.value != nil {
      let camera = tables.object.flatMap { object in
        object.camera ?? object.cameras.lazy.compactMap(\.self).first
      }
      capture.alignment = .sameCamera(
        camera, stored: storedSize)
    }
    reportFiles()
    reportLengths()
    reportTimes()
    capture.warnings = warnings.warnings
    capture.warn(ofLinksOutside: files.outside)
    capture.files = filesOfParts
    capture.completeness = completeness
    claim(&capture)
    return capture
  }

  /// The local time in a name such as `2024-03-17--18-25-12`, without zone; `nil` for other names.
  static func recordedAt(_ name: String) -> String? {
    guard let gap = name.firstRange(of: "--") else { return nil }
    // Other apps write the same numbers in another order and with other signs.
    let numbers = name.replacing("--", with: "-", maxReplacements: 1)
    guard gap.lowerBound == name.index(name.startIndex, offsetBy: 10, limitedBy: name.endIndex)
    else { return nil }
    return FolderName.recordedAt(numbers.map { $0 == "-" ? "_" : String($0) }.joined())
  }

  // MARK: Streams

  /// The stored size of the color pictures; that of the metadata if none is readable, `nil` without
  /// color.
  private var storedSize: PictureSize? {
    guard let color = tables.color.value else { return nil }
    return color.head?.storedSize ?? tables.object?.colorSize
  }

  private var uprightSize: PictureSize? {
    tables.color.value?.head?.uprightSize ?? tables.object?.colorSize
  }

  private var color: StreamState<ColorStream> {
    tables.color.map { pictures in
      guard let files = tables.files.color.value else {
        return ColorStream(
          source: .pictures(pictures), description: StreamDescription(file: "", encoding: "jpeg"))
      }
      var stream = ColorStream(
        pictures, of: files.files, folder: tables.files.generation.colorFolder)
      (stream.description.width, stream.description.height) = (
        uprightSize?.width, uprightSize?.height
      )
      describe(frames.frames.map(\.colorTimestamp), in: &stream.description)
      return stream
    }
  }

  private func stream<Pixel>(
    _ files: StreamState<PictureFiles<Pixel>>, in folder: String
  ) -> StreamState<PictureStream<Pixel>> {
    files.map {
      var stream = PictureStream(
        $0, folder: folder, of: frames.frames,
        gapFactor: Record3DReader.description.frameGapFactor)
      stream.description.pairing = nil
      return stream
    }
  }

  /// Adds the times of a stream, `nil` for frames that it lacks.
  private func describe(_ times: [Timestamp?], in description: inout StreamDescription) {
    description.state(times: times, gapFactor: Record3DReader.description.frameGapFactor)
  }

  // MARK: Tables

  private func poses() -> StreamState<PoseStream> {
    if case .unreadable(let error) = tables.metadata { return .unreadable(error) }
    guard let object = tables.object, let stored = object.poses, !stored.isEmpty else {
      return .absent("the metadata has no poses")
    }
    if object.isUntracked {
      warnings.add(
        .untrackedPoses, "poses", count: object.isFaceID ? 0 : stored.count,
        "all poses are the identity: there was no tracking")
      return .absent("there was no tracking: all poses are the identity")
    }
    let rows = stored.enumerated().compactMap { frame, stored in
      stored.pose.map { PoseStream.Row(frame: frame, pose: $0) }
    }
    warnings.add(
      .nonFiniteValue, "poses", count: stored.count - rows.count,
      "poses with a rotation of zero or with numbers that are not finite have no row; their frames are kept"
    )
    let times = rows.map { frames.frames[$0.frame].timestamp }
    warnings.addPoseJumps(rows, times)
    var description = StreamDescription(
      file: tables.files.generation.metadataName, encoding: "json", frames: rows.count)
    describe(times, in: &description)
    return .present(
      PoseStream(
        description: description, rows: rows,
        world: object.worldIsFirstCamera ? .firstCamera : nil))
  }

  /// Each frame's own intrinsics, else those of the first.
  private func intrinsics() -> StreamState<[IntrinsicsRow]> {
    if case .unreadable(let error) = tables.metadata { return .unreadable(error) }
    guard let object = tables.object, object.hasCamera else {
      warnings.add(.calibrationMissing, "color", "no intrinsics are recorded")
      return .absent("the metadata has neither a usable K nor perFrameIntrinsicCoeffs")
    }
    let size = uprightSize
    return .present(
      frames.frames.indices.compactMap { frame in
        object.camera(of: frame).map { IntrinsicsRow(frame, $0, size) }
      })
  }

  private func refuseEmpty() throws(CaptureError) {
    let files = tables.files
    guard frames.frames.isEmpty else { return }
    if let error = files.color.error ?? files.depth.error { throw error }
    if case .unreadable(let error) = tables.metadata { throw error }
    throw CaptureError(
      file: files.path, problem: "neither a picture nor a pose",
      remedy: "check whether the upload is complete")
  }
}

/// The canonical frames: every number that a pose, a time or a file has.
struct Record3DFrames {
  let frames: [CaptureFrame]
  /// Whether times were recorded; otherwise they follow from the nominal rate, if that is known.
  let hasRecordedTimes: Bool
  /// Number of times that are far from all others.
  let far: Int
  /// Number of frames without time, besides those.
  let untimed: Int

  init(_ tables: Record3DTables) {
    let metadata = tables.object
    let recorded = metadata?.times
    hasRecordedTimes = recorded != nil
    let count = max(
      metadata?.poses?.count ?? 0, recorded?.count ?? 0, tables.numberCount)
    let bounds = TimeBounds((recorded ?? []).compactMap(\.self))
    let times = (0..<count).map { frame -> Timestamp? in
      guard let recorded else { return metadata?.nominalTime(of: frame) }
      return recorded.indices.contains(frame) ? recorded[frame] : nil
    }
    var frames = times.map { time in
      CaptureFrame(timestamp: time.flatMap { bounds.contains($0) || recorded == nil ? $0 : nil })
    }
    for file in tables.files.color.value?.files.files ?? [] {
      frames[file.number].colorTimestamp = frames[file.number].timestamp
    }
    for file in tables.files.depth.value?.files.files ?? [] {
      frames[file.number].depthTimestamp = frames[file.number].timestamp
    }
    self.frames = frames
    untimed = times.count { $0 == nil }
    far = frames.count { $0.timestamp == nil } - untimed
  }
}
