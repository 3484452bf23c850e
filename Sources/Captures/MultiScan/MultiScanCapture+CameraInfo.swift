import Media
import Core

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
    if let why = mirrorObstacle(contents.color.value?.track) { return .absent(why) }
    switch contents.cameraInfo {
    case .absent(let why): return .absent(why)
    case .unreadable(let error): return .unreadable(error)
    case .present(let info):
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
      let times = rows.map { frames.frames[$0.frame].timestamp }
      warnings.add(
        .poseJump, "poses", count: PoseJumps.countTimed(rows: rows, times: times),
        "faster than 10 m/s from one frame to the next: tracking was lost or started again")
      let description = description(
        contents.files.cameraInfo ?? "", encoding: "jsonl", width: nil, height: nil,
        frames: rows.count, declared: contents.metadata?.first(.cameraInfo)?.declaredFrames,
        times: self.times(ofFrames: rows.map(\.frame)))
      return .present(PoseStream(description: description, rows: rows))
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
    switch contents.cameraInfo {
    case .absent(let why): return .absent(why)
    case .unreadable(let error): return .unreadable(error)
    case .present:
      let rows = lines.map { frame, line in
        CameraSettingsRow(frame: frame, exposureSeconds: line.exposureSeconds)
      }
      let description = description(
        contents.files.cameraInfo ?? "", encoding: "jsonl", width: nil, height: nil,
        frames: rows.count, declared: contents.metadata?.first(.cameraInfo)?.declaredFrames,
        times: times(ofFrames: rows.map(\.frame)))
      return .present(CameraSettingsStream(description: description, rows: rows))
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
      calibration.colorIntrinsics = fit.camera(
        fx: first.fx, fy: first.fy, cx: first.cx, cy: first.cy)
    }
    return calibration
  }

  /// A row with the intrinsics of the stored picture and the size of the upright one.
  private func row(_ frame: Int, _ values: MultiScanIntrinsics) -> IntrinsicsRow {
    let size = contents.storedColorSize
    let turns = contents.color.value?.track.orientation.clockwiseQuarterTurns ?? 0
    let isSideways = turns % 2 != 0
    let camera = contents.colorFit.camera(
      fx: values.fx, fy: values.fy, cx: values.cx, cy: values.cy)
    return IntrinsicsRow(
      frame: frame, width: isSideways ? size?.height : size?.width,
      height: isSideways ? size?.width : size?.height, fx: camera?.fx ?? values.fx,
      fy: camera?.fy ?? values.fy, cx: camera?.cx ?? values.cx, cy: camera?.cy ?? values.cy)
  }
}

extension MultiScanTables {
  /// The video's size before any turn, else that of the metadata.
  fileprivate var storedColorSize: (width: Int, height: Int)? {
    if let video = color.value { return (video.track.storedWidth, video.track.storedHeight) }
    if case .size(let width, let height) = metadata?.color?.resolution { return (width, height) }
    return nil
  }

  /// How the app's intrinsics relate to the pictures of the video.
  var colorFit: ColorFit {
    guard case .size(let width, let height) = metadata?.color?.resolution else {
      return ColorFit(stated: nil, color.value?.track)
    }
    return ColorFit(stated: (width, height), color.value?.track)
  }

  /// The metadata's value, which is the first frame's: for modes and captures without lines.
  var constantIntrinsics: MultiScanIntrinsics? {
    linesInUse == nil && generation != .androidPlain ? metadata?.color?.intrinsics : nil
  }
}
