import Captures
import Core
import Engine
import Media
import Processing

/// Picks pictures that are one file each: all are decoded and looked at, the picked ones are decoded once
/// more when they are written.
struct StillPicking {
  /// A decoded picture, or why there is none; of another size than the stream: both.
  typealias Decoded = (picture: ColorImage?, issue: FrameIssue?)

  let context: StageContext
  private(set) var plan: PickPlan
  private(set) var table = PickTable()
  /// Number of pictures that could not be decoded.
  private(set) var lost = 0

  /// How many pictures are looked at before the plan takes them: their outlines are in memory until then.
  private static let atOnce = 64

  /// Looks at the pictures, with what is damaged added to the warnings.
  ///
  /// - Parameters:
  ///   - pictures: with their frames, in any order; the others are passed over.
  ///   - decode: called by any thread with the number of a picture.
  /// - Throws: `UnreadableStream` if there are pictures and none can be decoded.
  mutating func pick(
    _ pictures: [(picture: Int, frame: Int)], decode: @Sendable (_ picture: Int) throws -> Decoded
  ) throws {
    let wanted = Set(plan.frames)
    let candidates = pictures.filter { wanted.contains($0.frame) }.sorted { $0.frame < $1.frame }
    if plan.needsScan {
      var starts: [PickPlan.Start] = []
      let scan = try look(candidates, decode, plan) { frame, begun, _, _ in
        if let begun { starts.append((frame, begun)) }
      }
      plan = plan.scanned(scan.plan, starts)
    }
    var picker = GroupPicker<Void>()
    var table = PickTable()
    let planned = plan
    let (looked, outcomes) = try look(candidates, decode, planned) { frame, begun, look, isWhole in
      let rank = planned.rank(frame, isWhole: isWhole, look.sharpness)
      if let picked = picker.take(frame, begins: begun, rank, ()) { table.add(picked) }
    }
    if let picked = picker.finish() { table.add(picked) }
    plan = looked
    self.table = table
    lost = outcomes.count { !$0.hasPicture }
    if lost == candidates.count, let issue = outcomes.lazy.compactMap(\.issue).first {
      throw UnreadableStream(description: issue.message)
    }
    let tally = OutcomeTally(subject: "color")
    for outcome in outcomes { tally.add(outcome) }
    for warning in tally.warnings { context.warnings.add(warning) }
  }

  /// Exports the pictures of `selection`, or those that are picked of them.
  ///
  /// - Parameters:
  ///   - plan: `nil` to export all.
  ///   - export: writes the pictures of a selection; it reports damage to the context that it is given.
  static func exporting(
    _ context: StageContext, _ plan: PickPlan?, _ selection: FrameSelection,
    _ pictures: [(picture: Int, frame: Int)],
    decode: @Sendable (_ picture: Int) throws -> Decoded,
    export: (StageContext, FrameSelection) throws -> StageResult
  ) throws -> StageResult {
    // Without candidates it is the selection that leaves nothing, which the export reports.
    guard let plan, !plan.frames.isEmpty else {
      var result = try export(context, selection)
      if let plan { try result.record(PickTable(), plan, context.staging) }
      return result
    }
    var picking = StillPicking(context: context, plan: plan)
    try picking.pick(pictures, decode: decode)
    var quiet = context
    // Damage was reported when the pictures were looked at.
    quiet.warnings = WarningCollector()
    var result = try export(quiet, FrameSelection(only: Set(picking.table.frames)))
    result.record(FrameHoles(lost: picking.lost, frames: plan.frames.count), in: "color")
    try result.record(picking.table, picking.plan, context.staging)
    return result
  }

  private func look(
    _ candidates: [(picture: Int, frame: Int)], _ decode: @Sendable (Int) throws -> Decoded,
    _ plan: PickPlan,
    _ note: (_ frame: Int, _ begun: PickMeans?, _ look: PictureLook, _ isWhole: Bool) -> Void
  ) throws -> (plan: PickPlan, outcomes: [RecordOutcome]) {
    var plan = plan
    var outcomes: [RecordOutcome] = []
    var position = 0
    while position < candidates.count {
      let part = Array(candidates[position..<min(position + Self.atOnce, candidates.count)])
      position += part.count
      let looks = try concurrentMap(count: part.count, budget: context.budget) { index in
        try context.cancellation.check()
        defer { context.progress.showLife() }
        let decoded = try decode(part[index].picture)
        let look = decoded.picture.flatMap {
          PictureLook(rgb: $0.rgb, width: $0.width, height: $0.height)
        }
        return (look, RecordOutcome(hasPicture: decoded.picture != nil, issue: decoded.issue))
      }
      for (candidate, (look, outcome)) in zip(part, looks) {
        outcomes.append(outcome)
        guard let look else { continue }
        note(
          candidate.frame, plan.take(candidate.frame, look.outline), look, outcome.issue == nil)
      }
    }
    return (plan, outcomes)
  }
}

extension StageResult {
  /// Writes the table of picked frames into the artifact and records which they are and by what.
  mutating func record(
    _ table: PickTable, _ plan: PickPlan, _ staging: StagingFolder
  ) throws {
    try table.write(staging)
    let frames = table.frames
    recorded.merge(PickedFrames(frames, plan.facts(picked: frames.count)).recorded) { $1 }
  }
}

/// A row per picked frame: which group it was picked of.
struct PickTable {
  static let fileName = "picked.csv"
  static let columns = ["frame", "first", "last", "pictures", "sharpness", "begun_by"]

  private var rows: [PickedFrame<Void>] = []

  var frames: [Int] { rows.map(\.frame).sorted() }

  mutating func add<Payload>(_ picked: PickedFrame<Payload>) {
    rows.append(picked.withoutPayload)
  }

  /// Writes the table into the artifact.
  func write(_ staging: StagingFolder) throws {
    try TableFile.write(Self.fileName, Self.columns, rows, staging) {
      [
        $0.frame, $0.first, $0.last, $0.pictures,
        ($0.rank.sharpness.variance * 1000).rounded() / 1000, $0.begun.rawValue,
      ]
    }
  }
}

/// Which frames of a capture were picked, as the record of an artifact states it.
struct PickedFrames: Hashable {
  /// Canonical indices, ascending.
  let frames: [Int]
  /// All that is stated, for records of artifacts made from this one.
  private let stated: [String: JSONValue]

  /// The key in records.
  private static let key = "picked"

  /// - Parameter facts: more about how they were picked.
  init(_ frames: [Int], _ facts: [String: JSONValue]) {
    self.frames = frames
    stated = facts.merging(["frames": .array(frames.map { .integer(Int64($0)) })]) { $1 }
  }

  /// From the record of an artifact; `nil` if nothing was picked.
  init?(_ record: ArtifactRecord) {
    guard let stated = record.recorded[Self.key]?.members, let numbers = stated["frames"]?.list
    else { return nil }
    frames = numbers.compactMap(\.whole)
    self.stated = stated
  }

  /// What goes into the record.
  var recorded: [String: JSONValue] { [Self.key: .object(stated)] }
}
