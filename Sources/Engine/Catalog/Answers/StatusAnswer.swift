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

  /// Totals, then what is not simply done and why, then one line for each kind of the rest.
  ///
  /// - Parameters:
  ///   - columns: no line is longer, but for words that are.
  ///   - all: a table of all captures and stages, and all that there is to say of each capture.
  public func text(columns: Int, all: Bool) -> String {
    if rows.isEmpty, unrecognized.isEmpty, retired.isEmpty, runs.isEmpty, watch == nil {
      return "no captures"
    }
    let told = all ? rows : rows.filter { $0.mark?.isCurrent != true }
    let status = StatusText(
      told.map(\.status),
      conditions: told.map {
        StatusText.Condition(
          state: $0.state.words, isDone: $0.state == .done, quality: $0.quality?.text,
          lines: $0.lines + (all ? $0.asides : []))
      })
    var parts = [totals.line.wrapped(columns: columns, margin: "", hanging: "  ")]
    if all { parts.append(status.table(columns: columns)) }
    parts += status.details(columns: columns)
    let rest = all ? [] : restLines(listed: status.listed)
    if !rest.isEmpty {
      parts.append(
        rest.map { $0.wrapped(columns: columns, margin: "", hanging: "  ") }
          .joined(separator: "\n"))
    }
    if !unrecognized.isEmpty {
      parts.append(
        "unrecognized folders, not processed:\n"
          + unrecognized.map { folder in
            ("\(folder.path.onOneLine): "
              + folder.holds.prefix(5).map(\.onOneLine).joined(separator: ", ")
              + (folder.holds.count > 5 ? ", …" : ""))
              .wrapped(columns: columns, margin: "  ", hanging: "      ")
          }.joined(separator: "\n"))
    }
    if all, !retired.isEmpty {
      parts.append(
        "retired, neither processed nor counted:\n"
          + retired.map { retired in
            "\(retired.id): \(retired.mark.words.onOneLine)"
              .wrapped(columns: columns, margin: "  ", hanging: "      ")
          }.joined(separator: "\n"))
    }
    if !runs.isEmpty { parts.append(runs.map(\.line).joined(separator: "\n")) }
    if let watch {
      parts.append(watch.line.wrapped(columns: columns, margin: "", hanging: "  "))
    }
    let now = FileStamp.nowNanoseconds()
    if let forecast {
      let lines = [forecast.dueWords(now: now).map { $0 + "." }, forecast.words(now: now)]
      let said = lines.compactMap(\.self)
      if !said.isEmpty { parts.append(said.joined(separator: "\n")) }
    }
    return parts.joined(separator: "\n\n")
  }

  /// One line on each kind of captures that is not told of by itself.
  private func restLines(listed: Set<String>) -> [String] {
    var lines: [String] = []
    let rest = rows.filter { !listed.contains($0.id) }
    for state in CaptureState.allCases {
      let those = rest.filter { $0.state == state }.map(\.id)
      if those.isEmpty { continue }
      let are = "\(Plural.text(those.count, "capture")) \(state.words)"
      let names =
        those.count > 3
        ? those.prefix(3).joined(separator: ", ") + ", …" : those.joined(separator: ", ")
      lines.append(state == .done ? "\(are), nothing to do (--all lists them)" : "\(are): \(names)")
    }
    let marked = rows.count { $0.mark != nil }
    if marked > 0 {
      lines.append(
        "\(Plural.text(marked, "capture")) marked (`scanmill mark list` shows the marks)")
    }
    let twins = rows.count { $0.twinOf != nil }
    if twins > 0 {
      lines.append(
        "\(Plural.text(twins, "capture")) with the id of another one (--all tells of which)")
    }
    if !retired.isEmpty {
      lines.append(
        "\(Plural.text(retired.count, "capture")) retired, neither processed nor counted")
    }
    return lines
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
    if let mark, !mark.isCurrent { lines.append(mark.words) }
    for remedy in reasons.compactMap(\.remedy) + [waitingRemedy].compactMap(\.self)
    where !lines.contains(remedy) {
      lines.append(remedy)
    }
    return lines
  }

  /// Of which other capture it has the id, and its mark.
  fileprivate var asides: [String] {
    var lines: [String] = []
    if let twinOf {
      let content = receivedTwin == nil ? "" : ", other content"
      let place = path.map { ": this one is \($0)" } ?? ""
      let other = pathOfNamesake.map { ", \(twinOf.onOneLine) is \($0)" } ?? ""
      lines.append("same id as \(twinOf.onOneLine)\(content)\(place)\(other)")
    }
    if let mark, mark.isCurrent { lines.append(mark.words) }
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

/// How captures and their stages stand, as text.
public struct StatusText: Sendable {
  /// Information about a capture in addition to its stages.
  public struct Condition: Sendable {
    /// The state as text.
    public var state: String
    /// Whether it was processed.
    public var isDone: Bool
    /// The verdict on the quality, as text; `nil`: it was not judged.
    public var quality: String?
    /// What is to be said of it.
    public var lines: [String] = []
  }

  private var captures: [(status: CaptureStatus, condition: Condition)]

  /// - Parameter conditions: one per capture.
  public init(_ captures: [CaptureStatus], conditions: [Condition]) {
    self.captures = Array(zip(captures, conditions)).map { ($0, $1) }
  }

  /// Captures and stages, those that were asked for of any capture, in at most `columns` columns of text.
  public func table(columns: Int) -> String {
    var seen: Set<String> = []
    let stages = captures.flatMap(\.status.stages).filter { $0.state != .notRequested }
      .map(\.stage).filter { seen.insert($0).inserted }
    let hasQuality = captures.contains { $0.condition.quality != nil }
    var table = TextTable()
    table.add(["capture", "state"] + (hasQuality ? ["verdict"] : []) + stages)
    for (capture, condition) in captures {
      let states = Dictionary(capture.stages.map { ($0.stage, $0.state) }) { first, _ in first }
      table.add(
        [capture.id, condition.state] + (hasQuality ? [condition.quality ?? ""] : [])
          + stages.map { states[$0].map(Self.cell) ?? "" })
    }
    return table.text(columns: columns)
  }

  private static func cell(_ state: StageState) -> String {
    switch state {
    case .notApplicable: "-"
    case .notRequested: ""
    default: state.rawValue
    }
  }

  /// Ids of the captures that `details` tells of.
  public var listed: Set<String> {
    Set(captures.filter { !Self.lines($0.status, $0.condition).isEmpty }.map(\.status.id))
  }

  /// The captures of which there is something to say, each with its state and what it is.
  public func details(columns: Int) -> [String] {
    captures.compactMap { capture, condition in
      let lines = Self.lines(capture, condition)
      if lines.isEmpty { return nil }
      let state = condition.isDone ? "" : "  \(condition.state)"
      let quality = condition.quality.map { "  verdict: \($0)" } ?? ""
      return
        ([capture.id.onOneLine + state + quality]
        + lines.map { $0.onOneLine.wrapped(columns: columns, margin: "  ", hanging: "      ") })
        .joined(separator: "\n")
    }
  }

  private static func lines(_ capture: CaptureStatus, _ condition: Condition) -> [String] {
    var lines = condition.lines
    if let holder = capture.lockedBy { lines.append("being worked on by \(holder)") }
    lines += capture.notes
    for stage in capture.stages where stage.state.isLack {
      var line = "\(stage.stage) \(stage.state.rawValue)"
      let why = [
        stage.state == .stale ? stage.reason?.rawValue : nil,
        stage.details.map { details in
          !details.isEmpty && condition.lines.contains { $0.contains(details) }
            ? "as above" : details
        },
      ].compactMap { $0 }
      if !why.isEmpty { line += ": " + why.joined(separator: ", ") }
      lines.append(line)
    }
    for stage in capture.stages where stage.askedByName == true {
      lines.append("not made: \(stage.stage), \(stage.details ?? "it does not apply")")
    }
    return lines
  }
}
