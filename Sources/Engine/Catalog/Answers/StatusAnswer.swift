import Captures
import Core
import SystemPackage

/// What `status` says of some captures.
public struct StatusAnswer: Sendable, Encodable {
  public var rows: [CaptureRow]
  var totals: NightTotals
  var watch: NightReport.Watch?
  var unrecognized: [RunReport.Unrecognized]
  /// When the watcher will be done; `nil`: none is at work.
  var forecast: NightForecast?
  /// Runs on a cluster that are not over.
  public var runs: [ActiveRun] = []
  /// Captures whose results have left the output, by id.
  public var retired: [NightReport.Retired] = []

  /// - Parameters:
  ///   - rows: those that are asked for; totals count these.
  ///   - unrecognized: `nil`: what the view has.
  public init(
    _ view: OutputSnapshot, rows: [CaptureRow], unrecognized: [RunReport.Unrecognized]? = nil
  ) {
    self.init(rows: rows, watch: view.watch, unrecognized: unrecognized ?? view.unrecognized)
    totals.disappeared = view.disappeared
    forecast = view.forecast
  }

  init(
    rows: [CaptureRow], watch: NightReport.Watch?, unrecognized: [RunReport.Unrecognized]
  ) {
    self.rows = rows
    self.watch = watch
    self.unrecognized = unrecognized
    totals = NightTotals(counting: rows, unrecognized: unrecognized.count)
    for index in rows.indices {
      totals.frames += rows[index].timings.reduce(0) { max($0, $1.frames) }
      totals.bytes += rows[index].bytes
    }
  }

  public var needsPerson: Bool { totals.needsPerson > 0 }

  // MARK: Text

  /// How many captures are named of which the same is to be said.
  private static let namedOfOneKind = 20

  /// Totals, then what is not simply done and why, then one line for each kind of the rest.
  ///
  /// - Parameters:
  ///   - columns: no line is longer, but for words that are.
  ///   - all: a table of all captures and stages, and all that there is to say of each capture.
  public func text(columns: Int, all: Bool) -> String {
    var parts = [totals.line.wrapped(columns: columns, margin: "", hanging: "  ")]
    if all, !rows.isEmpty { parts.append(Self.table(rows, columns: columns)) }
    // Rows are large: lists of them would take longer than their texts.
    var rest: [CaptureState: [Int]] = [:]
    var told: [(headings: [String], lines: [String])] = []
    var places: [[String]: Int] = [:]
    for index in rows.indices {
      let isTold = all || rows[index].mark?.isCurrent != true
      let lines = isTold ? rows[index].lines(all: all) : []
      if lines.isEmpty {
        rest[rows[index].state, default: []].append(index)
        continue
      }
      // Captures of which the same is to be said stand together.
      if !all, let place = places[lines] {
        told[place].headings.append(rows[index].heading)
        continue
      }
      places[lines] = told.count
      told.append(([rows[index].heading], lines))
    }
    parts += told.map { headings, lines in
      let more = headings.count - Self.namedOfOneKind
      let named =
        more > 0
        ? headings.prefix(Self.namedOfOneKind) + ["and \(more) more (--all lists them)"] : headings
      return (named + lines.map { $0.wrapped(columns: columns, margin: "  ", hanging: "      ") })
        .joined(separator: "\n")
    }
    let restLines = all ? [] : lines(onRest: rest)
    if !restLines.isEmpty {
      parts.append(
        restLines.map { $0.wrapped(columns: columns, margin: "", hanging: "  ") }
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

  /// Captures and stages, those that were asked for of any capture, in at most `columns` columns of text.
  private static func table(_ rows: [CaptureRow], columns: Int) -> String {
    let stages = rows.flatMap(\.shownStages).filter { $0.state != .notRequested }.map(\.stage)
      .uniqued
    let hasQuality = rows.contains { $0.quality != nil }
    var table = TextTable()
    table.add(["capture", "state"] + (hasQuality ? ["verdict"] : []) + stages)
    for row in rows {
      let states = Dictionary(firstOf: row.stages.map { ($0.stage, $0.state) })
      table.add(
        [row.id, row.stateWords] + (hasQuality ? [row.quality?.text ?? ""] : [])
          + stages.map { states[$0].map(cell) ?? "" })
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

  /// One line on each kind of captures that is not told of by itself.
  ///
  /// - Parameter rest: their indices, by state.
  private func lines(onRest rest: [CaptureState: [Int]]) -> [String] {
    var lines: [String] = []
    for state in CaptureState.allCases {
      // What is left alone waits for nothing, and has a line of its own.
      let those = (rest[state] ?? []).filter {
        state == .done || rows[$0].mark?.isLeftAlone != true
      }
      if those.isEmpty { continue }
      let are = "\(Plural.text(those.count, "capture")) \(state.words)"
      let names =
        those.prefix(3).map { rows[$0].id }.joined(separator: ", ")
        + (those.count > 3 ? ", …" : "")
      lines.append(state == .done ? "\(are), nothing to do (--all lists them)" : "\(are): \(names)")
    }
    let marked = rows.indices.count { rows[$0].mark != nil }
    if marked > 0 {
      lines.append(
        "\(Plural.text(marked, "capture bears", "captures bear")) a mark, done or not (`scanmill mark list` shows all marks)"
      )
    }
    let twins = rows.indices.count { rows[$0].twinOf != nil }
    if twins > 0 {
      lines.append(
        "\(Plural.text(twins, "capture")) with the id of another one (--all tells of which)")
    }
    if !retired.isEmpty {
      lines.append(
        "\(Plural.text(retired.count, "capture")) retired, neither processed nor counted")
    }
    return lines
      + OutcomeWords.notMade(
        rows.indices.lazy.filter { rows[$0].mark?.isCurrent != true }.map {
          (rows[$0].id, rows[$0].notMade)
        })
  }

  /// The object of `status --json`.
  public func json() throws -> [UInt8] {
    var frame = self
    frame.rows = []
    return try ListJSON.pretty(frame, captures: rows.map(CaptureRow.InStatus.init))
  }

  public func encode(to encoder: any Encoder) throws {
    let members: JSONObject = [
      "schema": 1,
      "captures": rows.map(CaptureRow.InStatus.init),
      "totals": totals,
      // Without a watcher: none is alive.
      "watch": watch ?? NightReport.Watch(alive: false, staging: nil, lastLook: nil),
      "unrecognized": unrecognized,
      "forecast": forecast,
      "runs": runs.isEmpty ? nil : runs,
      "retired": retired.isEmpty ? nil : retired,
    ]
    try members.withoutNulls.encode(to: encoder)
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
  /// Id, state and verdict.
  fileprivate var heading: String {
    id.onOneLine + (state == .done ? "" : "  \(stateWords)")
      + (quality.map { "  verdict: \($0.text)\($0.pictures == nil ? "" : " pictures")" } ?? "")
  }

  /// All that is to be said of it, each on one line.
  fileprivate func lines(all: Bool) -> [String] {
    let lines = lines + (all ? asides : [])
    let notMade = all ? notMade.map { "not made: \($0.stage), \($0.why ?? "")".onOneLine } : []
    return lines + workLines(after: lines) + notMade
  }

  /// Stages that were asked for by name and are not possible, with the reasons.
  fileprivate var notMade: [(stage: String, why: String?)] {
    stages.filter { $0.isShown && $0.askedByName == true }.map { ($0.stage, $0.details) }
  }

  /// What is to be said of the capture as a whole, each on one line.
  private var lines: [String] {
    var lines: [String] = []
    switch state {
    case .failed, .quarantined:
      let cause = failure?.cause.map { " (\($0.rawValue))" } ?? ""
      let times = attempts > 1 ? " after \(attempts) attempts" : ""
      lines.append(
        "\(state.words)\(times)\(cause)" + (failure?.message.map { ": \(Failure.line($0))" } ?? ""))
      if let retryAt, mark?.isLeftAlone != true {
        let time = NightClock.words(retryAt, now: FileStamp.nowNanoseconds())
        lines.append("tried again at \(time)")
      }
    case .incomplete, .done, .arriving, .running, .unrecognized: break
    case .queued where mark?.isLeftAlone == true: break
    case .queued:
      if let what = waitsFor {
        let needed = neededBytes.map { " (needs about \(ByteCount.text($0)))" } ?? ""
        lines.append("waits for: \(what)\(needed)")
      }
    case .stalledUpload:
      let since =
        since.map { "since \(NightClock.words($0, now: FileStamp.nowNanoseconds())) " } ?? ""
      if let upload { lines.append("stalled: \(since)\(upload.words(size: ByteCount.text))") }
    }
    lines += reasons.filter { ![.failed, .quarantined].contains($0.code) }
      .map { "needs you: \($0.text)" }
    if let quality, [.poor, .unjudged].contains(quality.verdict), mark?.isCurrent != true {
      // Reasons that go with a worse verdict have the word themselves.
      let reasons = quality.reasons.joined(separator: "; ")
      lines.append(
        quality.verdict == .unjudged
          ? "quality \(reasons)" : "\(quality.verdict.rawValue) quality: \(reasons)")
    }
    if state == .done, gone, !inputGone { lines.append("its folder is gone; the results stay") }
    if let mark, !mark.isCurrent { lines.append(mark.words) }
    for remedy in remedies + [waitingRemedy].compactMap(\.self) where !lines.contains(remedy) {
      lines.append(remedy)
    }
    return lines.map(\.onOneLine)
  }

  /// Lines on the other capture that has the same id, and on the mark.
  private var asides: [String] {
    var lines: [String] = []
    if let twinOf {
      let content = receivedTwin == nil ? "" : ", other content"
      let place = path.map { ": this one is \($0)" } ?? ""
      let other = pathOfNamesake.map { ", \(twinOf.onOneLine) is \($0)" } ?? ""
      lines.append("same id as \(twinOf.onOneLine)\(content)\(place)\(other)")
    }
    if let mark, mark.isCurrent { lines.append(mark.words) }
    return lines.map(\.onOneLine)
  }

  /// What is to be said of the work on it and of its stages, each on one line, after what was said already.
  private func workLines(after told: [String]) -> [String] {
    var lines = lockedBy.map { ["being worked on by \($0)"] } ?? []
    if !timings.isEmpty || state != .queued { lines += notes }
    // Of what waits nothing but the results that are there can be other than they should be.
    let lacks = stages.filter {
      $0.isShown && $0.state.isLack && (state != .queued || $0.state != .missing)
    }
    // Stages of which the same is to be said stand together.
    let states = lacks.map { stage in
      let details = stage.details.map { Failure.line($0).onOneLine }
      let why = [
        stage.state == .stale ? stage.reason?.rawValue : nil,
        details.map { details in
          !details.isEmpty && told.contains { $0.contains(details) } ? "as above" : details
        },
      ].compactMap(\.self)
      return stage.state.rawValue + (why.isEmpty ? "" : ": " + why.joined(separator: ", "))
    }
    lines += states.uniqued.map { state in
      let own = zip(lacks, states).filter { $1 == state }.map(\.0.stage)
      return own.joined(separator: ", ") + " " + state
    }
    return lines.map(\.onOneLine)
  }
}

/// Which captures an answer is about; all that is set must hold.
public struct StatusFilter: Equatable, Sendable {
  /// Empty: all.
  public var states: Set<CaptureState> = []
  /// Only those that need a person.
  public var needsPerson = false
  public var families: Set<String> = []
  /// Part of a device's name, model or id, letters in any case.
  public var device: String?
  /// Worked on, or seen in its state, at this time or later (nanoseconds since 1970).
  public var sinceNanoseconds: Int64?
  public var warning: WarningCode?
  /// Verdicts on the quality; empty: all. A capture that was not judged has none of them.
  public var qualities: Set<CaptureQuality.Level> = []
  /// Part of scene, device or id, letters in any case.
  public var search: String?
  /// Beginnings of ids, and patterns of what is left out, as `run` takes them.
  public var names = NameChoice()

  public init() {}

  /// Whether captures can be left out by it without a look at their results.
  public var leavesOut: Bool {
    !families.isEmpty || names != NameChoice() || device != nil || search != nil
  }

  /// Whether a row has one of the names and families that are asked for, which never change.
  func isOfNames(_ row: CaptureRow) -> Bool {
    (families.isEmpty || families.contains(row.family ?? ""))
      && names.refusal(ids: row.callNames, names: row.matchNames) == nil
  }

  /// Whether a row has the device and the scene that are asked for, which stand in the document of the capture alone.
  func isOfDocument(_ row: CaptureRow) -> Bool {
    if let device = device?.lowercased() {
      let texts = [row.deviceInfo.name, row.deviceInfo.model, row.deviceInfo.id]
      guard texts.contains(where: { $0.map { Self.has($0.lowercased(), device) } == true })
      else { return false }
    }
    return search.map { Self.has(row.searchText, $0.lowercased()) } ?? true
  }

  public func holds(_ row: CaptureRow) -> Bool {
    guard isOfNames(row), isOfDocument(row) else { return false }
    if !states.isEmpty, !states.contains(row.state) { return false }
    if needsPerson, !row.needsPerson { return false }
    if let warning, !row.warnings.contains(where: { $0.code == warning }) { return false }
    if !qualities.isEmpty {
      guard let verdict = row.quality?.verdict, qualities.contains(verdict) else { return false }
    }
    if let since = sinceNanoseconds {
      let times = [row.lastRun, row.since].compactMap { $0.flatMap(UTCText.nanoseconds) }
      guard let newest = times.max(), newest >= since else { return false }
    }
    return true
  }

  /// Compares bytes, as the catalog does.
  private static func has(_ text: String, _ part: String) -> Bool {
    part.isEmpty || text.utf8.firstRange(of: Array(part.utf8)) != nil
  }
}

extension CaptureRow {
  /// What `--id` compares with.
  public var callNames: [String] { [id, name].compactMap(\.self) }

  /// What patterns are compared with: names, and the path of the capture with each of its ends, because the
  /// folder that a run searched is not known any more.
  public var matchNames: [String] {
    guard let folder else { return callNames }
    let parts = FilePath(text: folder).components.map(\.string)
    var paths = parts.indices.map { parts[$0...].joined(separator: "/") } + [folder]
    if let stem { paths += paths.map { "\($0)/\(stem)" } }
    return callNames + paths
  }
}

/// Summary of an unfinished run on a batch system, for display.
public struct ActiveRun: Sendable, Hashable, Encodable {
  public var run: String
  public var isDetached = false
  public var elements = 0
  public var ended = 0
  public var running = 0
  public var waiting = 0
  /// Seconds since the run was created, if any array task waits. An upper limit of the longest
  /// wait; `nil` if unknown.
  public var longestWaitSeconds: Double?
  /// Why array tasks wait, as text.
  public var reason: String?
  /// All array tasks have ended and no supervisor or follow-up job is left, but the run was not
  /// concluded.
  public var isAbandoned = false

  private enum CodingKeys: String, CodingKey {
    case run, elements, ended, running, waiting, longestWaitSeconds, reason
    case isAbandoned = "abandoned"
  }

  public init(run: String) { self.run = run }

  /// One line: `run ID on the cluster: 3/12 elements ended, 4 running, 5 waiting (Priority: …)`.
  public var line: String {
    if isAbandoned {
      return "run \(run) on the cluster has ended and was not concluded: "
        + (isDetached ? "the next 'run' on this output does it" : "run the same command again")
    }
    var text = "run \(run) on the cluster: \(ended)/\(elements) elements ended, \(running) running"
    if waiting > 0 {
      text += ", \(waiting) waiting"
      let why = [
        longestWaitSeconds.map { "for up to \(DurationText.estimated($0))" }, reason,
      ].compactMap { $0 }
      if !why.isEmpty { text += " (\(why.joined(separator: "; ")))" }
    }
    return text
  }
}
