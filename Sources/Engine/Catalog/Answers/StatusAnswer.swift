import Captures
import Core

/// What `status` says of some captures.
public struct StatusAnswer: Sendable {
  public var rows: [CaptureRow]
  var totals: NightTotals
  var watch: NightReport.Watch?
  var unrecognized: [RunReport.Unrecognized]
  /// When the watcher will be done; `nil`: none is at work.
  var forecast: NightForecast?
  /// Runs on a cluster that are not over.
  public var runs: [RunInProgress] = []
  /// Captures whose results have left the output, by id.
  public var retired: [NightReport.Retired] = []
  /// Whether the table has columns of stages that were not asked for.
  public var showsAllStages = false

  /// - Parameters:
  ///   - rows: those that are asked for; totals count these.
  ///   - unrecognized: `nil`: what the view has.
  public init(
    _ view: OutputSnapshot, rows: [CaptureRow], unrecognized: [RunReport.Unrecognized]? = nil
  ) {
    self.init(
      rows: rows, watch: view.watch, unrecognized: unrecognized ?? view.unrecognized,
      view.histories)
    totals.disappeared = view.disappeared
    forecast = view.forecast
  }

  init(
    rows: [CaptureRow], watch: NightReport.Watch?, unrecognized: [RunReport.Unrecognized]
  ) {
    self.init(rows: rows, watch: watch, unrecognized: unrecognized, [:])
  }

  private init(
    rows: [CaptureRow], watch: NightReport.Watch?, unrecognized: [RunReport.Unrecognized],
    _ histories: [String: CaptureCondition.History]
  ) {
    self.rows = rows
    self.watch = watch
    self.unrecognized = unrecognized
    var totals = NightTotals()
    totals.unrecognized = unrecognized.count
    for row in rows {
      totals.add(
        row.state, needsPerson: !row.reasons.isEmpty, mark: row.mark,
        waitsFor: row.condition.waitsFor,
        outcome: histories[row.id].map { $0.latest.outcome ?? .interrupted })
      let timings = row.entry?.timings ?? []
      totals.frames += timings.map(\.frames).max() ?? 0
      totals.bytes += row.bytes
      totals.cpuSeconds += timings.reduce(0) { $0 + $1.cpuSeconds }
      totals.seconds += timings.reduce(0) { $0 + $1.seconds }
    }
    let poor = rows.count { $0.quality?.verdict == .poor && $0.mark?.isCurrent != true }
    if poor > 0 { totals.poor = poor }
    self.totals = totals
  }

  public var needsPerson: Bool { totals.needsPerson > 0 }

  // MARK: JSON

  public func json() throws -> [UInt8] {
    try ListJSON.pretty(
      Document(
        totals: totals, watch: watch, unrecognized: unrecognized, runs: runs, retired: retired,
        forecast: forecast),
      captures: rows.map(StatusCapture.init))
  }

  private struct Document: Encodable {
    var schema = 1
    var captures: [StatusCapture] = []
    var totals: NightTotals
    var watch: NightReport.Watch?
    var unrecognized: [RunReport.Unrecognized]
    var runs: [RunInProgress]
    var retired: [NightReport.Retired]
    var forecast: NightForecast?

    private enum Key: CodingKey {
      case schema, captures, totals, watch, unrecognized, runs, retired, forecast
    }

    func encode(to encoder: any Encoder) throws {
      var object = encoder.container(keyedBy: Key.self)
      try object.encode(schema, forKey: .schema)
      try object.encode(captures, forKey: .captures)
      try object.encode(totals, forKey: .totals)
      // Without a watcher: none is alive.
      try object.encode(
        watch ?? NightReport.Watch(alive: false, staging: nil, lastLook: nil), forKey: .watch)
      try object.encode(unrecognized, forKey: .unrecognized)
      try object.encodeIfPresent(forecast, forKey: .forecast)
      if !runs.isEmpty { try object.encode(runs, forKey: .runs) }
      if !retired.isEmpty { try object.encode(retired, forKey: .retired) }
    }
  }

  // MARK: Text

  /// A table of captures, states and stages, counts, and below what is not as it should be and why.
  public var text: String {
    var status = StatusText(
      rows.map(\.status),
      conditions: rows.map {
        StatusText.Condition(
          state: $0.state.words, quality: $0.quality?.text, lines: $0.lines)
      })
    status.showsAllStages = showsAllStages
    var parts = [status.text, totals.line]
    if !unrecognized.isEmpty {
      parts.append(
        "unrecognized folders, not processed:\n"
          + unrecognized.map { folder in
            "  \(folder.path.onOneLine): "
              + folder.holds.prefix(5).map(\.onOneLine).joined(separator: ", ")
              + (folder.holds.count > 5 ? ", …" : "")
          }.joined(separator: "\n"))
    }
    if !retired.isEmpty {
      let most = 10
      parts.append(
        "retired, neither processed nor counted:\n"
          + retired.prefix(most).map { "  \($0.id): \($0.mark.words.onOneLine)" }
          .joined(separator: "\n")
          + (retired.count > most ? "\n  and \(retired.count - most) more (--json lists them)" : "")
      )
    }
    if !runs.isEmpty { parts.append(runs.map(\.line).joined(separator: "\n")) }
    if let watch { parts.append(watch.line) }
    let now = FileStamp.nowNanoseconds()
    if let forecast {
      let lines = [forecast.dueWords(now: now).map { $0 + "." }, forecast.words(now: now)]
      let said = lines.compactMap(\.self)
      if !said.isEmpty { parts.append(said.joined(separator: "\n")) }
    }
    return parts.joined(separator: "\n\n")
  }
}

extension NightReport.Watch {
  fileprivate var line: String {
    let place = staging.map { " \($0.onOneLine)" } ?? ""
    let look =
      lastLook.map { ", last look \(NightClock.words($0, now: FileStamp.nowNanoseconds()))" } ?? ""
    let why = trouble.map { ": \($0.onOneLine)" } ?? ""
    return alive
      ? "a watcher looks at\(place)\(look)\(why)"
      : "no watcher is running; what it last saw of\(place) counts\(look)\(why)"
  }
}

extension CaptureRow {
  /// The stages, as far as there are any.
  var status: CaptureStatus {
    CaptureStatus(
      id: id, path: path, family: family, pipeline: entry?.pipeline ?? "",
      inputGone: entry?.inputGone ?? false, lockedBy: lockedBy, notes: entry?.notes ?? [],
      warnings: warningCount.kinds, missing: condition.missing, stages: entry?.stages ?? [])
  }

  private var lockedBy: String? { state == .running ? entry?.lockedBy : nil }

  /// What is to be said beside the stages.
  fileprivate var lines: [String] {
    var lines: [String] = []
    switch state {
    case .failed, .quarantined:
      let cause = condition.failure?.cause.map { " (\($0.rawValue))" } ?? ""
      let times = condition.attempts > 1 ? " after \(condition.attempts) attempts" : ""
      lines.append(
        "\(state.words)\(times)\(cause)" + (condition.failure?.message.map { ": \($0)" } ?? ""))
      if let retryAt = condition.retryAt, mark?.isLeftAlone != true {
        let time = NightClock.words(retryAt, now: FileStamp.nowNanoseconds())
        lines.append("tried again at \(time)")
      }
    case .incomplete, .done, .arriving, .running, .unrecognized: break
    case .queued where mark?.isLeftAlone == true: break
    case .queued:
      if let what = condition.waitsFor {
        let needed = condition.neededBytes.map { " (needs about \(ByteCount.text($0)))" } ?? ""
        lines.append("waits for: \(what)\(needed)")
      }
    case .stalledUpload:
      let since =
        condition.since.map { "since \(NightClock.words($0, now: FileStamp.nowNanoseconds())) " }
        ?? ""
      if let upload = condition.upload {
        lines.append("stalled: \(since)\(upload.words(size: ByteCount.text))")
      }
    }
    let reasons = reasons
    lines += reasons.filter { ![.failed, .quarantined].contains($0.code) }
      .map { "needs you: \($0.text)" }
    if let quality, [.poor, .unjudged].contains(quality.verdict), mark?.isCurrent != true {
      lines.append(
        "\(quality.verdict.rawValue) quality: " + quality.reasons.joined(separator: "; "))
    }
    if state == .done, condition.gone { lines.append("its folder is gone; the results stay") }
    if let twinOf {
      let content = receivedTwin == nil ? "" : ", other content"
      let place = path.map { ": this one is \($0)" } ?? ""
      let other = pathOfNamesake.map { ", \(twinOf.onOneLine) is \($0)" } ?? ""
      lines.append("same id as \(twinOf.onOneLine)\(content)\(place)\(other)")
    }
    if let mark { lines.append(mark.words) }
    for remedy in reasons.compactMap(\.remedy) + [waitingRemedy].compactMap(\.self)
    where !lines.contains(remedy) {
      lines.append(remedy)
    }
    return lines
  }
}

/// A capture in `status --json`.
private struct StatusCapture: Encodable, Sendable {
  let row: CaptureRow

  init(_ row: CaptureRow) { self.row = row }

  private enum Key: CodingKey {
    case id, state, family, device, scene, recordedAt, attempts, needsPerson, reasons, warnings,
      warningCount,
      missing,
      lastRun, run, path,
      gone, cause, message, retryAt, stages, pipeline, inputGone, lockedBy, notes, since, waitsFor,
      neededBytes,
      shortfalls, upload, mark, twinOf, quality
  }

  func encode(to encoder: any Encoder) throws {
    var object = encoder.container(keyedBy: Key.self)
    try object.encode(row.id, forKey: .id)
    try object.encode(row.state, forKey: .state)
    try object.encode(row.family, forKey: .family)
    try object.encode(row.device, forKey: .device)
    try object.encode(row.scene, forKey: .scene)
    try object.encode(row.entry?.recordedAt, forKey: .recordedAt)
    try object.encode(row.condition.attempts, forKey: .attempts)
    let reasons = row.reasons
    try object.encode(!reasons.isEmpty, forKey: .needsPerson)
    try object.encode(reasons, forKey: .reasons)
    try object.encode(row.warnings, forKey: .warnings)
    try object.encode(row.warningCount.kinds, forKey: .warningCount)
    if !row.shortfalls.isEmpty { try object.encode(row.shortfalls, forKey: .shortfalls) }
    try object.encode(row.condition.missing, forKey: .missing)
    try object.encode(row.lastRun, forKey: .lastRun)
    try object.encode(row.lastRunID, forKey: .run)
    try object.encode(row.path, forKey: .path)
    try object.encode(row.condition.gone, forKey: .gone)
    try object.encode(row.condition.failure?.cause, forKey: .cause)
    try object.encode(row.condition.failure?.message, forKey: .message)
    try object.encode(row.condition.retryAt, forKey: .retryAt)
    try object.encode(row.condition.since, forKey: .since)
    try object.encode(row.condition.waitsFor, forKey: .waitsFor)
    try object.encodeIfPresent(row.condition.neededBytes, forKey: .neededBytes)
    try object.encodeIfPresent(row.condition.upload, forKey: .upload)
    let status = row.status
    try object.encode(status.stages, forKey: .stages)
    try object.encode(row.entry?.pipeline, forKey: .pipeline)
    try object.encode(status.inputGone, forKey: .inputGone)
    try object.encodeIfPresent(status.lockedBy, forKey: .lockedBy)
    try object.encode(status.notes, forKey: .notes)
    try object.encodeIfPresent(row.mark, forKey: .mark)
    try object.encodeIfPresent(row.twinOf, forKey: .twinOf)
    try object.encodeIfPresent(row.quality, forKey: .quality)
  }
}

/// The state of captures, as text and as JSON.
public struct StatusText: Encodable, Sendable {
  /// Information about a capture in addition to its stages.
  public struct Condition: Encodable, Sendable {
    /// The state as text: `done with warnings`.
    public var state: String
    /// The verdict on the quality, as text; `nil`: it was not judged.
    public var quality: String?
    /// Additional lines.
    public var lines: [String] = []
  }

  var schema = 1
  var captures: [CaptureStatus]
  /// Whether stages that were not requested have columns.
  var showsAllStages = false
  private var conditions: [Condition] = []

  private enum CodingKeys: CodingKey {
    case schema, captures
  }

  init(_ captures: [CaptureStatus]) {
    self.captures = captures
  }

  /// - Parameter conditions: one per capture.
  init(_ captures: [CaptureStatus], conditions: [Condition]) {
    self.captures = captures
    self.conditions = conditions
  }

  /// A table of captures and stages, counts, and the reasons for what is not done.
  public var text: String {
    var table = TextTable()
    let columns = columns
    let hasQuality = conditions.contains { $0.quality != nil }
    table.add(
      ["capture"] + (conditions.isEmpty ? [] : ["state"]) + (hasQuality ? ["verdict"] : [])
        + columns
    )
    for (index, capture) in captures.enumerated() {
      let states = Dictionary(capture.stages.map { ($0.stage, $0.state) }) { first, _ in first }
      table.add(
        [capture.id] + state(index) + (hasQuality ? [conditions[index].quality ?? ""] : [])
          + columns.map { states[$0].map(cell) ?? "" })
    }
    let details = captures.enumerated().compactMap { index, capture in
      Self.details(capture, conditions.indices.contains(index) ? conditions[index].lines : [])
    }
    return ([table.text, counts] + details).joined(separator: "\n\n")
  }

  private func cell(_ state: StageState) -> String {
    switch state {
    case .notApplicable: "-"
    case .notRequested: showsAllStages ? state.rawValue : ""
    default: state.rawValue
    }
  }

  private func state(_ index: Int) -> [String] {
    conditions.isEmpty ? [] : [conditions[index].state]
  }

  /// Stages in pipeline order, without those that were requested for no capture, followed by stages
  /// of other pipelines.
  private var columns: [String] {
    var seen: Set<String> = []
    return captures.flatMap(\.stages)
      .filter { showsAllStages || $0.state != .notRequested }
      .map(\.stage).filter { seen.insert($0).inserted }
  }

  private var counts: String {
    let all = captures.flatMap(\.stages)
    let counts = StageState.allCases.compactMap { state -> String? in
      // Stages that were not requested do not count.
      if state == .notRequested { return nil }
      let count = all.count { $0.state == state }
      return count == 0 ? nil : "\(count) \(state.rawValue)"
    }
    return "stages: " + (counts.isEmpty ? "none" : counts.joined(separator: ", "))
  }

  private static func details(_ capture: CaptureStatus, _ condition: [String]) -> String? {
    var lines = condition.map { "  \($0.onOneLine)" }
    if let holder = capture.lockedBy { lines.append("  being worked on by \(holder)") }
    lines += capture.notes.map { "  \($0.onOneLine)" }
    for stage in capture.stages where stage.state.isLack {
      var line = "  \(stage.stage) \(stage.state.rawValue)"
      let why = [
        stage.state == .stale ? stage.reason?.rawValue : nil,
        stage.details.map { details in
          !details.isEmpty && condition.contains { $0.contains(details) } ? "as above" : details
        },
      ].compactMap { $0 }
      if !why.isEmpty { line += ": " + why.joined(separator: ", ") }
      lines.append(line)
    }
    for stage in capture.stages where stage.askedByName == true {
      lines.append(
        "  not made: \(stage.stage), \(stage.details ?? "it does not apply")".onOneLine)
    }
    return lines.isEmpty ? nil : ([capture.id.onOneLine] + lines).joined(separator: "\n")
  }
}
