import Captures
import Geometry
import Parallel
import Pipeline
import Processing
import Stages

/// The frames that an export writes, and what became of all others: every canonical frame once.
package struct ExportFrames: Sendable {
  /// Canonical indices, ascending.
  package let frames: [Int]
  /// Only reasons that apply.
  package let leftOut: [SkippedExport: Int]

  /// The one place where frames are chosen.
  ///
  /// What a frame lacks goes first, in the order of `SkippedExport`; the selection acts on what is left, so that it
  /// gives the same frames whatever the times are like. Frames that an inner stage has chosen are not chosen
  /// again: only what turned out to be missing since then is left out.
  ///
  /// - Parameters:
  ///   - needs: of every frame; where depth pictures are connected, `depth` is for the caller to ask.
  ///   - hasDepth: which frames have depth, or were left out by the stage that makes it, where it does not come
  ///     as pictures.
  ///   - hasIntrinsics: which frames have intrinsics, where those of color are not what is asked for.
  ///   - inertial: with these, only frames that they cover: the first sample ≤ t < the last, and at least one
  ///     sample since the frame kept before.
  ///   - times: that the format can hold; another is as if it were unknown.
  ///   - mayBeEmpty: for formats that hold something without frames, too.
  /// - Throws: `StageDoesNotApply` when no frame is left.
  /// Cost: a pass over the frames; with `pick: sharpest`, decoding every picture that could be picked.
  package init(
    _ source: ExportSource, _ needs: ExportNeeds, hasDepth: ((Int) -> Bool)? = nil,
    hasIntrinsics: ((Int) -> Bool)? = nil, inertial: SixAxisIMU? = nil,
    times: ClosedRange<Timestamp>? = nil, mayBeEmpty: Bool = false
  ) throws {
    let hasDepth = hasDepth ?? { source.hasDepth($0) || source.isDepthSkipped($0) }
    let hasIntrinsics = hasIntrinsics ?? { source.cameras[$0] != nil }
    if let chosen = source.chosen {
      var account = chosen.leftOut
      frames = chosen.frames.filter { frame in
        // What shows only now that its pictures are made.
        guard let reason = Self.lacking(frame, source, needs, hasDepth, hasIntrinsics) else {
          return true
        }
        account[reason, default: 0] += 1
        return false
      }
      leftOut = account
      guard mayBeEmpty || !frames.isEmpty else {
        throw StageDoesNotApply(
          Self.nothing(account), warnings: nothingLeft(source.context).map { [$0] } ?? [])
      }
      return
    }
    var account: [SkippedExport: Int] = [:]
    var kept: [Int] = []
    var previous: Timestamp?
    var coverage = inertial.map { IMUCoverage($0) }
    for frame in 0..<source.frameCount {
      let reason =
        Self.lacking(frame, source, needs, hasDepth, hasIntrinsics)
        ?? Self.untimely(frame, source, needs, times, after: previous, &coverage)
      if let reason {
        account[reason, default: 0] += 1
        continue
      }
      if needs.contains(.time) { previous = source.time(frame) }
      kept.append(frame)
    }
    let selection = Self.selection(source.context.parameters)
    let selected = kept.filter {
      selection.contains($0) && !Self.isSkipped($0, source, needs)
    }
    let picked = try FramePicking(source.context.parameters).pick(selected, source)
    frames = picked.frames
    if picked.lost > 0 { account[.noPicture, default: 0] += picked.lost }
    let notSelected = kept.count - frames.count - picked.lost
    if notSelected > 0 { account[.notSelected] = notSelected }
    leftOut = account
    guard mayBeEmpty || !frames.isEmpty else {
      throw StageDoesNotApply(
        Self.nothing(account),
        warnings: nothingLeft(source.context).map { [$0] } ?? [])
    }
  }

  /// That the selection left none of the frames that could have been written; `nil`: it did, or there were none.
  package func nothingLeft(_ context: StageContext) -> CaptureWarning? {
    let notSelected = leftOut[.notSelected] ?? 0
    guard frames.isEmpty, notSelected > 0 else { return nil }
    return CaptureWarning(
      .nothingLeft, context.stage, count: notSelected,
      "0 of \(notSelected) frames are left: "
        + context.parameters.settings(FrameSelection.parameterNames))
  }

  /// Whether a stage before was told to leave out what this export needs of the frame.
  private static func isSkipped(
    _ frame: Int, _ source: ExportSource, _ needs: ExportNeeds
  ) -> Bool {
    needs.contains(.picture) && source.isPictureSkipped(frame)
      || needs.contains(.depth) && source.isDepthSkipped(frame)
  }

  /// Frames of a format that needs none of them: a track without frames is a track.
  ///
  /// - Parameter lacking: why a canonical frame is left out, before the selection; `nil`: it is not.
  package init(
    count: Int, _ parameters: ParameterValues, lacking: (_ frame: Int) -> SkippedExport?
  ) {
    let selection = Self.selection(parameters)
    var account: [SkippedExport: Int] = [:]
    var kept: [Int] = []
    for frame in 0..<count {
      if let reason = lacking(frame) ?? (selection.contains(frame) ? nil : .notSelected) {
        account[reason, default: 0] += 1
      } else {
        kept.append(frame)
      }
    }
    frames = kept
    leftOut = account
  }

  private static func selection(_ parameters: ParameterValues) -> FrameSelection {
    FrameSelection(
      every: parameters.integer("every") ?? 1, first: parameters.integer("first") ?? 0,
      last: parameters.integer("last"))
  }

  private init(_ frames: [Int], _ leftOut: [SkippedExport: Int]) {
    self.frames = frames
    self.leftOut = leftOut
  }

  /// The first of them alone; the others count as not selected.
  package var firstAlone: ExportFrames {
    guard frames.count > 1 else { return self }
    return ExportFrames(
      Array(frames.prefix(1)),
      leftOut.merging([.notSelected: frames.count - 1]) { $0 + $1 })
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
    return nil
  }

  /// What is wrong with its time, in formats keyed by time.
  private static func untimely(
    _ frame: Int, _ source: ExportSource, _ needs: ExportNeeds, _ times: ClosedRange<Timestamp>?,
    after previous: Timestamp?, _ coverage: inout IMUCoverage?
  ) -> SkippedExport? {
    guard needs.contains(.time) else { return nil }
    guard let time = source.time(frame), times?.contains(time) ?? true else { return .noTime }
    if needs.contains(.timeOfROS1), !TimeText.isTimeOfROS1(time) { return .noTime }
    if let previous, time <= previous { return .timeNotIncreasing }
    if coverage?.keeps(time, after: previous) == false { return .outsideIMU }
    return nil
  }

  /// The largest reasons first.
  private static func nothing(_ account: [SkippedExport: Int]) -> String {
    let reasons = SkippedExport.allCases.compactMap { reason in
      account[reason].map { "\($0) \(reason.rawValue)" }
    }
    return reasons.isEmpty
      ? "no frames: the capture has none"
      : "no frame is left: " + reasons.joined(separator: ", ")
  }
}

/// Which picture times inertial samples cover. Asked in the order of time.
struct IMUCoverage {
  private let times: [Timestamp]
  /// The first sample later than the last time asked about.
  private var position = 0

  init(_ imu: SixAxisIMU) {
    times = imu.rows.map(\.timestamp)
  }

  /// Whether first ≤ t < last, and a sample lies after `previous` and not after `t`.
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
