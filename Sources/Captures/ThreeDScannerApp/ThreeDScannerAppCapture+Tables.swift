import Media
import Core

extension ThreeDScannerAppCapture {
  /// Why poses and intrinsics do not belong to the pictures.
  private var mirrorObstacle: String? {
    guard let orientation = tables.color.head?.exifOrientation, [2, 4, 5, 7].contains(orientation)
    else { return nil }
    return "the pictures are mirrored by their EXIF orientation: no camera takes such pictures"
  }

  /// What stands for the tables of the frame files where these are absent.
  private func absence<Value>() -> StreamState<Value>? {
    if let problem = tables.problem { return .unreadable(problem) }
    return tables.rowFileCount == 0 ? .absent("no frame_*.json") : nil
  }

  /// The first intrinsics of any frame; `nil` if there are none.
  var anyIntrinsics: (fx: Double, fy: Double, cx: Double, cy: Double)? {
    tables.sorted.lazy.compactMap(\.file.intrinsics).first
  }

  /// Poses in frame order.
  func poses() -> StreamState<PoseStream> {
    if let absence = absence() as StreamState<PoseStream>? { return absence }
    if let why = mirrorObstacle { return .absent(why) }
    var found: [(row: PoseStream.Row, time: Timestamp?)] = []
    var (missing, nonFinite, malformed) = (0, 0, 0)
    for (frame, file) in tables.sorted {
      var isMissing = file.intrinsics == nil
      switch file.pose {
      case .pose(let pose):
        found.append((PoseStream.Row(frame: frame, pose: pose), file.time))
      case .none: isMissing = true
      case .nonFinite: nonFinite += 1
      case .malformed: malformed += 1
      }
      if isMissing { missing += 1 }
    }
    warnings.add(
      .missingKey, "poses", count: missing,
      "frame files without a pose of 16 or intrinsics of 9 numbers")
    warnings.add(
      .nonFiniteValue, "poses", count: nonFinite,
      "poses with NaN or infinite numbers, or a last element of 0, have no row")
    warnings.add(
      .corruptRecord, "poses", count: malformed, "poses that are no rotation and position")
    let timed = found.filter { $0.time != nil }
    warnings.add(
      .poseJump, "poses",
      count: PoseJumps.countTimed(rows: timed.map(\.row), times: timed.map(\.time)),
      "steps faster than 10 m/s: tracking was lost and found elsewhere")
    var description = StreamDescription(
      file: Self.pattern(.frame), encoding: "json", frames: found.count,
      declaredFrames: tables.info?.declaredFrames)
    describe(found.map(\.time), in: &description)
    return .present(PoseStream(description: description, rows: found.map(\.row)))
  }

  /// Each frame's own intrinsics, also of frames without picture.
  var intrinsics: StreamState<[IntrinsicsRow]> {
    if let absence = absence() as StreamState<[IntrinsicsRow]>? { return absence }
    if let why = mirrorObstacle { return .absent(why) }
    let size = tables.color.head?.uprightSize
    return .present(
      tables.sorted.compactMap { frame, file in
        file.intrinsics.map {
          IntrinsicsRow(
            frame: frame, width: size?.width, height: size?.height, fx: $0.fx, fy: $0.fy,
            cx: $0.cx, cy: $0.cy)
        }
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
    describe(tables.sorted.map(\.file.time), in: &description)
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
      describe(measured.map(\.file.time), in: &description)
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
    describe([first.timestamp], in: &description)
    return .present(GeoStream(description: description, track: track, coverage: .firstFrameOnly))
  }
}
