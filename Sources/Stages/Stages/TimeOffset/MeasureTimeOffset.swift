import Captures
import Core
import Engine
import Media
import Processing
import Synchronization

/// Measures how far the clock of the IMU is ahead of the times of pictures, from how camera and gyroscope
/// turn.
///
/// What cannot be told is not told: the record then says why, and has no number.
enum MeasureTimeOffset: Stage {
  static let name = "measure-time-offset"
  static let version = 4
  static let sentence =
    "Measures the time offset between camera and IMU, with its confidence interval, from how both turn."
  static let ports: [Port] = []
  static let parameters = ParameterDescription.list(searchRange, rotation)

  private static let searchRange = Parameter(
    "search", .duration(50_000_000...5_000_000_000), default: 500_000_000,
    "Offsets from minus this to plus this are tried."
  ).needingAuto(of: TimeOffsetChoice.key).forExperts()

  /// What tells how the camera turns.
  private enum Rotation: String, CaseIterable {
    case poses, pictures
  }

  private static let rotation = Parameter<Rotation?>(
    "rotation", .choice(or: "auto"), default: nil,
    "What tells how the camera turns: its poses, or neighboring pictures, which have to be decoded. auto: poses "
      + "where there are some."
  ).needingAuto(of: TimeOffsetChoice.key).forExperts()

  /// The table of the offsets that were tried.
  static let tableName = "time_offset.csv"
  private static let columns = ["offset_ns", "residual_rad_s", "correlation"]
  /// The table of the offset of each block of the recording by itself.
  static let blocksName = "time_offset_blocks.csv"
  private static let columnsOfBlocks = [
    "start_ns", "end_ns", "rotations", "offset_ns", "deviation_ns",
  ]

  static let content = ArtifactContent.timeOffset

  static let reads: Set<CapturePart> = [.frames, .imu]

  static func alsoReads(
    _ parameters: ParameterValues, connected ports: Set<String>
  ) -> Set<CapturePart> {
    switch parameters[rotation] {
    case .poses: [.poses]
    case .pictures: [.color, .intrinsics, .calibration]
    case nil: [.poses, .color, .intrinsics, .calibration]
    }
  }

  /// FFmpeg determines which pictures a video has, and their pixels.
  static func libraries(
    _ parameters: ParameterValues, _ capture: CaptureSummary
  ) -> [String: String] {
    readsPictures(parameters, poses: capture.exports.poses) && capture.colorIsVideo
      ? LibraryVersions.ofVideo : [:]
  }

  private static func readsPictures(_ parameters: ParameterValues, poses: Int) -> Bool {
    parameters[rotation].map { $0 == .pictures } ?? (poses == 0)
  }

  static func applicability(
    _ parameters: ParameterValues, _ capture: CaptureSummary
  ) -> Applicability {
    let byPictures = readsPictures(parameters, poses: capture.exports.poses)
    for part in [CapturePart.imu, byPictures ? .color : .poses, .frames] {
      switch capture.state(of: part) {
      case .present: continue
      case .absent(let why): return .notApplicable("\(Self.words(part)): \(why)")
      case .unreadable(let why): return .unreadable(why)
      }
    }
    if !capture.framesShareIMUClock {
      return .notApplicable("pictures and IMU have no common clock")
    }
    if byPictures {
      if capture.exports.timedPictures == 0 {
        return .notApplicable("no times: no picture has one")
      }
      if capture.exports.isMirrored {
        return .notApplicable(
          ColorStream.mirrorReason)
      }
    } else if capture.exports.poses == 0 {
      return .notApplicable("no poses: no frame was tracked")
    }
    if Set(capture.exports.samples.keys).isDisjoint(with: IMUStream.gyroscopes) {
      return .notApplicable("no gyroscope")
    }
    return .applies
  }

  private static func words(_ part: CapturePart) -> String {
    switch part {
    case .imu: "no IMU"
    case .poses: "no poses"
    case .color: "no color"
    default: "no frames"
    }
  }

  static func run(_ context: StageContext) throws -> StageResult {
    let capture = context.capture
    let byPictures = readsPictures(
      context.parameters, poses: capture.poses.value?.rows.count ?? 0)
    let turns: [CameraTurn]
    var isFocalLengthAssumed = false
    if byPictures {
      let pictures = PictureTurns(capture)
      try pictures.decode(context)
      turns = pictures.turns
      isFocalLengthAssumed = pictures.isFocalLengthAssumed
    } else {
      turns = self.turns(of: capture)
    }
    let search = TimeOffsetEstimator(
      searchNanoseconds: context.parameters[searchRange],
      byPictures ? .pictures : .poses
    ).search(turns, IMUStream.integral(capture.imu.value))
    try context.cancellation.check()
    try write(search.curve, context)
    try write(search.blocks, context)
    var result = StageResult(frames: turns.count)
    let interval = TimeSteps(ofNeighbors: capture.frames.map(\.timestamp)).medianNanoseconds
    result.recorded =
      MeasuredTimeOffset(
        search.result, source: byPictures ? "pictures" : "poses", frameIntervalNanoseconds: interval
      ).recorded
    if isFocalLengthAssumed { result.recorded["focalLengthAssumed"] = .bool(true) }
    if case .success(let found) = search.result { warn(of: found, interval, context) }
    return result
  }

  /// The offset by the rotations of the poses, with the usual range of search.
  static func byPoses(_ capture: Capture) -> TimeOffsetSearch {
    TimeOffsetEstimator(
      searchNanoseconds: ParameterValues(defaultsOf: parameters)[searchRange], .poses
    ).search(turns(of: capture), IMUStream.integral(capture.imu.value))
  }

  /// From each pose to that of the next frame.
  private static func turns(of capture: Capture) -> [CameraTurn] {
    let rows = (capture.poses.value?.rows ?? []).compactMap {
      row -> (frame: Int, time: Timestamp, pose: Pose)? in
      guard capture.frames.indices.contains(row.frame),
        let time = capture.frames[row.frame].timestamp
      else { return nil }
      return (row.frame, time, row.pose)
    }.sorted { $0.time < $1.time }
    return zip(rows, rows.dropFirst()).compactMap { before, row in
      CameraTurn(from: before.pose, at: before.time, to: row.pose, at: row.time)
    }
  }

  private static func write(_ curve: [TimeOffsetSearch.Point], _ context: StageContext) throws {
    try TableFile.write(tableName, columns, curve, context.staging) {
      [
        $0.nanoseconds, ($0.residual * 1e6).rounded() / 1e6,
        ($0.correlation * 1e6).rounded() / 1e6,
      ]
    }
  }

  private static func write(_ blocks: [TimeOffsetSearch.Block], _ context: StageContext) throws {
    try TableFile.write(blocksName, columnsOfBlocks, blocks, context.staging) {
      [
        $0.start.nanoseconds, $0.end.nanoseconds, $0.turns, $0.nanoseconds,
        $0.deviationNanoseconds,
      ]
    }
  }

  private static func warn(of found: TimeOffset, _ interval: Int64?, _ context: StageContext) {
    guard let interval, interval > 0, found.nanoseconds.magnitude > interval.magnitude / 2 else {
      return
    }
    func text(_ nanoseconds: Int64) -> String { TimeOffsetRefusal.milliseconds(nanoseconds) }
    context.warnings.add(
      .timeOffset, "imu", count: context.capture.frames.count { $0.timestamp != nil },
      "the clock of the IMU is \(text(found.nanoseconds)) ahead of the times of pictures (95 %: "
        + "\(text(found.lowNanoseconds)) to \(text(found.highNanoseconds))), more than half of the "
        + "\(text(interval)) from frame to frame")
  }
}

extension IMUStream {
  /// The sensor types of gyroscopes, the preferred one first: that without bias.
  static let gyroscopes = ["rotationRate", "gyroscope"]

  /// The samples of the gyroscope, and the step beyond which they have a gap; `nil` without a gyroscope.
  var gyroscope: (samples: [IMUSample], longestStepNanoseconds: Int64)? {
    guard let sensor = Self.gyroscopes.lazy.compactMap(sensors.firstIndex).first else { return nil }
    return (
      samples.filter { $0.sensor == sensor },
      gapThresholdNanoseconds.indices.contains(sensor)
        ? gapThresholdNanoseconds[sensor] : 50_000_000
    )
  }

  /// The integral of the gyroscope's readings; without any if there is none.
  fileprivate static func integral(_ imu: IMUStream?) -> GyroscopeIntegral {
    let gyroscope = imu?.gyroscope ?? ([], 0)
    return GyroscopeIntegral(
      gyroscope.samples, longestStepNanoseconds: gyroscope.longestStepNanoseconds)
  }
}

/// The rotations of a camera from picture to picture, found while the pictures are decoded.
///
/// Any number of threads may add pictures, in any order. A picture is kept until both of its neighbors have
/// come; some 30 kB each.
final class PictureTurns: Sendable {
  private struct State {
    var waiting: [Int: SmallPicture] = [:]
    /// Pictures that have come, and how many of their neighbors.
    var met: [Int: Int] = [:]
    var turns: [CameraTurn] = []
  }

  private let times: [Timestamp?]
  private let focalLengths: FocalLengths
  private let state = Mutex(State())

  init(_ capture: Capture) {
    times = capture.frames.map(\.pictureTime)
    focalLengths = FocalLengths(capture)
  }

  /// By time.
  var turns: [CameraTurn] { state.withLock { $0.turns }.sorted { $0.start < $1.start } }

  /// Whether a usual focal length stands in for one that is not known.
  var isFocalLengthAssumed: Bool { focalLengths.areAssumed }

  /// Decodes all pictures of a capture and compares neighbors.
  func decode(_ context: StageContext) throws {
    var own = context
    // Damage is reported by the stage that writes the pictures.
    own.warnings = WarningCollector()
    own.parameters = ParameterValues(defaultsOf: DecodeColor.parameters)
    context.progress.expect(times.count)
    _ = try DecodeColor.decode(own, CommonParameters.selection(own.parameters)) {
      frame, rgb, width, height in
      guard let picture = SmallPicture(rgb: rgb, width: width, height: height) else { return }
      self.add(frame, picture, longestSide: max(width, height))
    }
  }

  private func add(_ frame: Int, _ picture: SmallPicture, longestSide: Int) {
    let (before, after) = state.withLock { state in
      state.waiting[frame] = picture
      let pair = (state.waiting[frame - 1], state.waiting[frame + 1])
      for (neighbor, there) in [(frame - 1, pair.0), (frame + 1, pair.1)] where there != nil {
        for met in [neighbor, frame] {
          state.met[met, default: 0] += 1
          if state.met[met] == 2 {
            state.waiting[met] = nil
            state.met[met] = nil
          }
        }
      }
      return pair
    }
    if let before { compare(frame - 1, before, picture, longestSide) }
    if let after { compare(frame, picture, after, longestSide) }
  }

  private func compare(
    _ frame: Int, _ first: SmallPicture, _ second: SmallPicture, _ longestSide: Int
  ) {
    guard times.indices.contains(frame + 1), let start = times[frame], let end = times[frame + 1],
      let turn = CameraTurn(
        from: first, at: start, to: second, at: end,
        focalLength: focalLengths.pixels(frame, longestSide: longestSide))
    else { return }
    state.withLock { $0.turns.append(turn) }
  }
}

/// Focal lengths of the color camera, by frame.
private struct FocalLengths {
  /// In parts of the longer side.
  private var byFrame: [Int: Double] = [:]
  private var common: Double?
  /// Focal length of a phone's wide camera, in parts of the longer side.
  private static let usual = 0.75

  init(_ capture: Capture) {
    let stated = capture.alignment?.colorIntrinsics
    common = stated.flatMap { Self.share($0.fx, $0.width, $0.height) }
    for row in capture.intrinsics.value ?? [] {
      byFrame[row.frame] = Self.share(
        row.fx, row.width ?? stated?.width, row.height ?? stated?.height)
    }
    common = common ?? byFrame.min { $0.key < $1.key }?.value
  }

  var areAssumed: Bool { common == nil }

  func pixels(_ frame: Int, longestSide: Int) -> Double {
    (byFrame[frame] ?? common ?? Self.usual) * Double(longestSide)
  }

  private static func share(_ focalLength: Double, _ width: Int?, _ height: Int?) -> Double? {
    guard let width, let height, max(width, height) > 0, focalLength > 0, focalLength.isFinite
    else { return nil }
    return focalLength / Double(max(width, height))
  }
}
