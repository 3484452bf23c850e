import Captures
import Core
import Engine
import Media
import Processing

/// The frames that an export writes, and the reasons for leaving out all others. Every canonical
/// frame counts once.
struct ExportFrames {
  /// Canonical indices, ascending.
  private(set) var frames: [Int]
  /// Numbers of skipped frames by reason; only reasons that occur.
  private(set) var leftOut: [SkippedExport: Int]

  /// The port at which an export receives the frames that an inner stage has chosen for it, so that nothing is made
  /// for the others.
  static let port = "chosen"

  /// From the record of the inner stage.
  init(_ input: InputArtifact) throws {
    guard case .array(let frames)? = input.record.recorded["chosen"],
      case .object(let leftOut)? = input.record.recorded["leftOut"]
    else {
      throw InternalError("the record of '\(input.stage)' does not say which frames it chose")
    }
    self.frames = frames.compactMap(\.whole)
    self.leftOut = Dictionary(
      uniqueKeysWithValues: SkippedExport.allCases.compactMap { reason in
        leftOut[reason.rawValue]?.whole.map { (reason, $0) }
      })
  }

  /// The values for the record of the inner stage.
  var recorded: [String: JSONValue] {
    ["chosen": .array(frames.map { .integer(Int64($0)) }), "leftOut": leftOut.json]
  }

  /// Chooses frames, for all formats.
  ///
  /// Frames that lack something are left out first, in the order of `SkippedExport`. The selection
  /// acts on the rest, so that it gives the same frames whatever their times. Frames that an inner
  /// stage has chosen are not chosen again: only those that have turned out to lack something since
  /// are left out.
  ///
  /// - Parameters:
  ///   - needs: what every frame must have; if depth pictures are connected, the caller adds
  ///     `depth`.
  ///   - hasDepth: which frames have depth, or were left out by the stage that makes it, if it
  ///     does not come as pictures.
  ///   - hasIntrinsics: which frames have intrinsics, if other ones than those of color are
  ///     needed.
  ///   - inertial: keeps only frames covered by these times: the first sample ≤ t < the last, and
  ///     at least one sample since the frame kept before.
  ///   - times: times that the format can store; others count as unknown.
  ///   - mayBeEmpty: for formats that also have content without frames.
  /// - Throws: `StageDoesNotApply` when no frame is left.
  ///
  /// Cost: a pass over the frames; with `pick: sharpest` or `motion`, decoding every picture that could be
  /// picked.
  init(
    _ source: ExportSource, _ needs: ExportNeeds, hasDepth: ((Int) -> Bool)? = nil,
    hasIntrinsics: ((Int) -> Bool)? = nil, inertial: SixAxisIMU? = nil,
    times: ClosedRange<Timestamp>? = nil, mayBeEmpty: Bool = false
  ) throws {
    let hasDepth = hasDepth ?? { source.hasDepth($0) || source.isDepthSkipped($0) }
    let hasIntrinsics = hasIntrinsics ?? { source.cameras[$0] != nil }
    if let chosen = source.chosen {
      var counts = chosen.leftOut
      frames = chosen.frames.filter { frame in
        // Some reasons are known only after the frame's pictures were made.
        guard let reason = Self.lacking(frame, source, needs, hasDepth, hasIntrinsics) else {
          return true
        }
        counts[reason, default: 0] += 1
        return false
      }
      leftOut = counts
    } else {
      var counts: [SkippedExport: Int] = [:]
      var kept: [Int] = []
      var previous: Timestamp?
      var coverage = inertial.map { IMUCoverage($0) }
      let nextPictures = needs.contains(.content) ? Self.nextPictures(source) : []
      for frame in 0..<source.frameCount {
        let reason =
          Self.lacking(frame, source, needs, hasDepth, hasIntrinsics)
          ?? Self.untimely(frame, source, needs, times, after: previous, &coverage)
          ?? Self.displacing(frame, source, nextPictures)
        if let reason {
          counts[reason, default: 0] += 1
          continue
        }
        if needs.contains(.time) { previous = source.time(frame) }
        kept.append(frame)
      }
      let selection = CommonParameters.selection(source.context.parameters)
      let segments = try PoseSegments(source.context)
      let selected = kept.filter {
        selection.contains($0) && segments?.contains($0) ?? true
          && !Self.isSkipped($0, source, needs)
      }
      let picked = try Self.pick(selected, source)
      frames = picked.frames
      if picked.lost > 0 { counts[.noPicture, default: 0] += picked.lost }
      let notSelected = kept.count - frames.count - picked.lost
      if notSelected > 0 { counts[.notSelected] = notSelected }
      leftOut = counts
    }
    guard mayBeEmpty || !frames.isEmpty else {
      throw nothingLeft(source.context).map(StageDoesNotApply.init)
        ?? StageDoesNotApply(Self.nothing(leftOut))
    }
  }

  /// A warning if the selection left none of the possible frames; `nil` otherwise.
  func nothingLeft(_ context: StageContext) -> CaptureWarning? {
    let notSelected = leftOut[.notSelected] ?? 0
    guard frames.isEmpty, notSelected > 0 else { return nil }
    let settings = CommonParameters.sentence(context.stage, context.parameters)
    return CaptureWarning(
      .nothingLeft, context.stage, count: notSelected,
      Self.nothing(leftOut) + (settings.isEmpty ? "" : "; \(settings)"))
  }

  /// Whether an earlier stage was set to leave out what this export needs of the frame.
  private static func isSkipped(
    _ frame: Int, _ source: ExportSource, _ needs: ExportNeeds
  ) -> Bool {
    let wantsPicture = needs.contains(.picture) || needs.contains(.content)
    let wantsDepth =
      needs.contains(.depth) || needs.contains(.content) && !source.hasPicture(frame)
    return wantsPicture && source.isPictureSkipped(frame)
      || wantsDepth && source.isDepthSkipped(frame)
  }

  /// The frames of a format that has content without any, such as a track.
  ///
  /// - Parameter lacking: why a canonical frame is left out before the selection; `nil` if it is
  ///   not.
  init(
    count: Int, _ parameters: ParameterValues, lacking: (_ frame: Int) -> SkippedExport?
  ) {
    let selection = CommonParameters.selection(parameters)
    var counts: [SkippedExport: Int] = [:]
    var kept: [Int] = []
    for frame in 0..<count {
      if let reason = lacking(frame) ?? (selection.contains(frame) ? nil : .notSelected) {
        counts[reason, default: 0] += 1
      } else {
        kept.append(frame)
      }
    }
    frames = PickParameters.even(kept, parameters) ?? kept
    if frames.count < kept.count {
      counts[.notSelected, default: 0] += kept.count - frames.count
    }
    leftOut = counts
  }

  /// The frames that `count` and `pick` take, and the number of frames that turned out to have no picture.
  private static func pick(
    _ frames: [Int], _ source: ExportSource
  ) throws -> (frames: [Int], lost: Int) {
    let context = source.context
    if PickParameters.least(of: frames.count, context.parameters) == frames.count {
      return (frames, 0)
    }
    if PickParameters.needsPictures(context.parameters), let look = source.outlook?.look {
      let looks = try look(Set(frames))
      let found = frames.filter { looks[$0] != nil }
      let picked = try FramePicking.pick(found, context) { looks[$0] }
      return (picked?.frames ?? found, frames.count - found.count)
    }
    // In every format by the pixels of color/, even if other pictures are exported.
    let color = try context.inputs["color"].map(ExportPictures.init) ?? source.pictures
    let picked = try FramePicking.pick(frames, context) { frame in
      let picture = try color?.look(frame)
      return picture.flatMap { PictureLook(rgb: $0.rgb, width: $0.width, height: $0.height) }
    }
    return (picked?.frames ?? frames, 0)
  }

  /// Only the first of them; the others are left out for `reason`.
  func firstAlone(_ reason: SkippedExport) -> ExportFrames {
    guard frames.count > 1 else { return self }
    var first = self
    first.frames.removeLast(frames.count - 1)
    first.leftOut[reason, default: 0] += frames.count - 1
    return first
  }

  private static func lacking(
    _ frame: Int, _ source: ExportSource, _ needs: ExportNeeds, _ hasDepth: (Int) -> Bool,
    _ hasIntrinsics: (Int) -> Bool
  ) -> SkippedExport? {
    if needs.contains(.picture), !source.hasPicture(frame), !source.isPictureSkipped(frame) {
      return .noPicture
    }
    if source.otherSizes.contains(frame) { return .otherSize }
    if needs.contains(.depth), !hasDepth(frame) { return .noDepth }
    if needs.contains(.pose), source.pose(frame) == nil { return .noPose }
    if needs.contains(.intrinsics), !hasIntrinsics(frame) { return .noIntrinsics }
    if needs.contains(.content), !source.hasPicture(frame), !source.isPictureSkipped(frame),
      !hasDepth(frame), source.pose(frame) == nil
    {
      return source.hasPictures ? .noPicture : source.depthChoice == .none ? .noPose : .noDepth
    }
    return nil
  }

  /// The time of the next picture after each frame.
  private static func nextPictures(_ source: ExportSource) -> [Timestamp?] {
    var next: Timestamp?
    var times = [Timestamp?](repeating: nil, count: source.frameCount)
    for frame in times.indices.reversed() {
      times[frame] = next
      if source.hasPicture(frame), let time = source.time(frame) { next = time }
    }
    return times
  }

  /// Whether a frame without a picture is not earlier than the next picture, which counts more.
  private static func displacing(
    _ frame: Int, _ source: ExportSource, _ nextPictures: [Timestamp?]
  ) -> SkippedExport? {
    guard !nextPictures.isEmpty, !source.hasPicture(frame), let time = source.time(frame),
      let next = nextPictures[frame], time >= next
    else { return nil }
    return .timeNotIncreasing
  }

  /// What is wrong with the frame's time, in formats with times as keys.
  private static func untimely(
    _ frame: Int, _ source: ExportSource, _ needs: ExportNeeds, _ times: ClosedRange<Timestamp>?,
    after previous: Timestamp?, _ coverage: inout IMUCoverage?
  ) -> SkippedExport? {
    guard needs.contains(.time) else { return nil }
    guard let time = source.time(frame), times?.contains(time) ?? true else { return .noTime }
    if needs.contains(.timeOfROS1), !time.isTimeOfROS1 { return .noTime }
    if let previous, time <= previous { return .timeNotIncreasing }
    if coverage?.keeps(time, after: previous) == false { return .outsideIMU }
    return nil
  }

  /// A text with the most frequent reasons first.
  private static func nothing(_ counts: [SkippedExport: Int]) -> String {
    let reasons = SkippedExport.allCases.compactMap { reason in
      counts[reason].map { "\($0) \(reason.rawValue)" }
    }
    return reasons.isEmpty
      ? "no frames: the capture has none"
      : "no frame is left: " + reasons.joined(separator: ", ")
  }
}

/// Decides which picture times are covered by inertial samples. Times must be ascending.
struct IMUCoverage {
  private let times: [Timestamp]
  /// Index of the first sample after the last tested time.
  private var position = 0

  init(_ imu: SixAxisIMU) {
    times = imu.rows.map(\.timestamp)
  }

  /// Whether first ≤ t < last, and there is a sample after `previous` and not after `t`.
  mutating func keeps(_ time: Timestamp, after previous: Timestamp?) -> Bool {
    guard let first = times.first, let last = times.last, first <= time, time < last else {
      return false
    }
    while position < times.count, times[position] <= time { position += 1 }
    guard let previous else { return true }
    // The latest sample not after t.
    return times[position - 1] > previous
  }
}

extension [SkippedExport: Int] {
  /// The numbers by the names of the reasons.
  var json: JSONValue {
    .object(reduce(into: [:]) { $0[$1.key.rawValue] = .integer(Int64($1.value)) })
  }
}

/// Why a frame is not exported: the first reason that applies, in this order. Scripts depend on the
/// raw values.
enum SkippedExport: String, CaseIterable {
  case noPicture = "no-picture"
  /// The picture has another size than the stream, and the format has one size for all.
  case otherSize = "other-size"
  case noDepth = "no-depth"
  case noPose = "no-pose"
  case noIntrinsics = "no-intrinsics"
  case noTime = "no-time"
  case timeNotIncreasing = "time-not-increasing"
  case outsideIMU = "outside-imu"
  case noPosition = "no-position"
  case notSelected = "not-selected"
  /// The format has no frames at all.
  case notInFormat = "not-in-format"
}
