import Captures
import Core
import SystemPackage

/// Puts the report of a night together from what an output tells.
public struct NightReportBuilder: Sendable {
  private let view: OutputSnapshot
  private let selection: RunSelection
  private let runs: [RunEntry]
  /// The latest attempt at each capture in these runs.
  private let attempts: [String: (attempt: RunEntry.Attempt, run: RunEntry)]

  /// Throws when no run is meant.
  public init(_ view: OutputSnapshot, _ selection: RunSelection) throws(RunSelection.Problem) {
    self.view = view
    self.selection = selection
    runs = try selection.runs(of: view)
    var attempts: [String: (attempt: RunEntry.Attempt, run: RunEntry)] = [:]
    for run in runs {
      for attempt in run.attempts where selection.includes(attempt, of: run) {
        // Being left out tells less than what happened before.
        if !attempt.isWork, attempts[attempt.capture] != nil { continue }
        attempts[attempt.capture] = (attempt, run)
      }
    }
    self.attempts = attempts
  }

  /// - Parameters:
  ///   - program: that reports, for outputs without runs.
  ///   - host: the same.
  public func report(program: ProgramIdentity, host: String) -> NightReport {
    let newest = view.runs.last
    var report = NightReport(
      from: from, to: to, program: newest?.program ?? program, host: newest?.host ?? host,
      pipeline: newest?.pipeline ?? "default", free: free())
    report.made = UTCText.text(nanoseconds: view.now)
    report.runs = runs.map(\.id)
    report.captures = Self.inOrder(listed)
    report.unrecognized = unrecognized
    if !view.retired.isEmpty { report.retired = view.retired }
    report.watch = view.watch
    report.totals = totals(report.captures)
    report.nights = Self.nights(view.runs, before: from, now: view.now)
    report.devices = Self.devices(view.rows)
    report.changes = Self.changes(view.runs, view.rows, before: from, now: view.now)
    report.forecast = view.forecast
    report.timeline = Self.timeline(
      runs, selection, pauses: view.pauses, from: from, now: UTCText.text(nanoseconds: view.now))
    return report
  }

  // MARK: Time

  private var from: String {
    switch selection {
    case .since(let start): UTCText.text(nanoseconds: start)
    case .run: runs.first?.started ?? UTCText.text(nanoseconds: view.now)
    }
  }

  private var to: String {
    switch selection {
    case .since: UTCText.text(nanoseconds: view.now)
    case .run:
      runs.last.map { $0.finished ?? $0.lastEvent ?? $0.started }
        ?? UTCText.text(nanoseconds: view.now)
    }
  }

  // MARK: Captures

  /// Every one that a selected run touched, and every one that waits now or is quarantined.
  private var listed: [CaptureRow] {
    var found: [CaptureRow] = []
    var seen: Set<String> = []
    for row in view.rows {
      let touched = attempts[row.id]
      // A failed one of a watcher waits for its next attempt, or for a person.
      let waits =
        [.arriving, .stalledUpload, .incomplete, .queued, .running, .quarantined].contains(
          row.state)
        || (row.state == .failed && view.watch != nil)
        || row.reasons.contains { $0.code == .stale }
      guard touched != nil || waits else { continue }
      seen.insert(row.id)
      found.append(reported(row, touched))
    }
    // What a run was given and has no output folder: places without a capture, captures not started.
    let retired = Set(view.retired.map(\.id))
    // Once for each run: there may be as many such captures as the run has.
    var histories: [String: [String: RunEntry.History]] = [:]
    for (id, touched) in attempts where !seen.contains(id) && !retired.contains(id) {
      // What a watcher lost before it was worth a folder is in its own list, or is told of no more.
      if let path = touched.attempt.path, view.watch?.looksAt(path) == true { continue }
      let run = touched.run.id
      let told = histories[run] ?? OutputSnapshot.histories([touched.run])
      histories[run] = told
      let history = told[id] ?? Self.skipped(touched)
      found.append(reported(CaptureRow(history), touched))
    }
    return found
  }

  private static func skipped(
    _ touched: (attempt: RunEntry.Attempt, run: RunEntry)
  ) -> RunEntry.History {
    RunEntry.History(
      latest: touched.attempt, run: touched.run.id, time: touched.run.end, failedInARow: 0,
      first: touched.run.started)
  }

  /// The row with what the selected runs made of it.
  private func reported(
    _ row: CaptureRow, _ touched: (attempt: RunEntry.Attempt, run: RunEntry)?
  ) -> CaptureRow {
    var row = row
    let attempt = touched?.attempt
    // A run that was killed, or still runs, has not said how it ended.
    row.outcome =
      touched.map { $0.attempt.outcome ?? .interrupted }
      ?? (view.histories[row.id] == nil ? row.outcome : nil)
    if row.state == .running, attempt?.outcome == nil { row.outcome = nil }
    row.cluster = attempt?.cluster
    row.failures = failures(row, touched)
    row.seconds = seconds(row, attempt)
    row.frames = row.timings.map(\.frames).max() ?? row.frames
    row.custody = Custody(row)
    row.command = row.command(output: view.root)
    return row
  }

  private func seconds(_ row: CaptureRow, _ attempt: RunEntry.Attempt?) -> Double? {
    let latest = attempt ?? view.histories[row.id]?.latest
    if let latest, let start = latest.started, let end = latest.finished {
      return UTCText.seconds(from: start, to: end)
    }
    return latest?.stageSeconds ?? row.timings.map(\.seconds).max()
  }

  /// Why the capture is failed; of one that is not, what a selected run tried again and could not make: the result of
  /// an earlier run is there and up to date.
  private func failures(
    _ row: CaptureRow, _ touched: (attempt: RunEntry.Attempt, run: RunEntry)?
  ) -> [Failure] {
    guard
      row.state == .failed || row.state == .quarantined
        || row.state == .done && touched?.attempt.hasFailed == true
    else { return [] }
    let history = view.histories[row.id]
    let attempt = touched?.attempt.hasFailed == true ? touched?.attempt : history?.latest
    let run = touched?.attempt.hasFailed == true ? touched?.run.id : history?.run
    let decides = row.failure
    var failures = attempt?.orderedFailures ?? []
    for index in failures.indices {
      failures[index].cause = failures[index].cause ?? attempt?.why.cause ?? decides?.cause
    }
    // What decides comes first.
    let deciding = decides?.stage ?? attempt?.decidingFailure?.stage
    if let index = failures.firstIndex(where: { $0.stage == deciding }), index > 0 {
      failures.insert(failures.remove(at: index), at: 0)
    }
    // A stage fails for its own reason when its input goes; what decides is that it went.
    if let decides, decides.cause != nil, !failures.isEmpty {
      failures[0].cause = decides.cause
      failures[0].detail = decides.detail ?? failures[0].detail
    }
    if failures.isEmpty {
      failures = [decides ?? Failure(message: nil)]
      failures[0].message = failures[0].message ?? attempt?.why.message
    }
    for index in failures.indices {
      failures[index].log = log(row.id, failures[index].stage, run)
      failures[index].attempts = max(1, row.attempts)
    }
    return failures
  }

  /// The path of a log in the output, if it exists.
  private func log(_ id: String, _ stage: String?, _ run: String?) -> String? {
    guard let run else { return nil }
    var names = stage.map { ["logs/\(id)/\($0).log"] } ?? []
    names += ["logs/\(id)/worker.log", "logs/\(id).log"]
    let folder = HeldFolder(view.root)?.below("runs/\(run)")
    for name in names {
      let above = name.split(separator: "/").dropLast().joined(separator: "/")
      let last = name.split(separator: "/").last.map(String.init) ?? ""
      if folder?.below(above)?.stamp(of: last) != nil {
        return "runs/\(run)/\(name)"
      }
    }
    return nil
  }

  /// Failed, quarantined and incomplete ones, then those that lack too much, then those with warnings, then
  /// the rest; each newest first.
  private static func inOrder(_ listed: [CaptureRow]) -> [CaptureRow] {
    func rank(_ row: CaptureRow) -> Int {
      guard row.needsPerson else {
        return row.mark?.isCurrent == true || !row.warnings.counted.isNone ? 4 : 5
      }
      return switch row.state {
      case .failed: 0
      case .quarantined: 1
      case .incomplete, .stalledUpload: 2
      case .done, .running, .queued, .arriving, .unrecognized: 3
      }
    }
    // Moving what is listed costs much more than comparing it.
    let keys = listed.map {
      (rank: rank($0), time: $0.lastRun ?? $0.since ?? "", id: $0.id)
    }
    let order = keys.indices.sorted {
      let (a, b) = (keys[$0], keys[$1])
      if a.rank != b.rank { return a.rank < b.rank }
      return a.time == b.time ? a.id < b.id : a.time > b.time
    }
    return order.map { listed[$0] }
  }

  // MARK: Totals

  private var unrecognized: [RunReport.Unrecognized] {
    // What a watcher sees is how it is now; earlier runs name folders that have since become captures.
    if view.watch != nil { return view.unrecognized }
    var seen: Set<String> = []
    return (view.unrecognized + runs.flatMap(\.unrecognized)).filter { folder in
      seen.insert(folder.path).inserted
    }
  }

  private func totals(_ captures: [CaptureRow]) -> NightTotals {
    var totals = NightTotals(counting: captures, unrecognized: unrecognized.count)
    totals.disappeared = view.disappeared
    totals.seconds = runs.reduce(0) { $0 + $1.seconds }
    var cpuSeconds = 0.0
    var frames: [String: Int] = [:]
    for run in runs {
      let own = run.attempts.filter { selection.includes($0, of: run) }
      for attempt in own {
        frames[attempt.capture] = max(frames[attempt.capture] ?? 0, attempt.frames)
      }
      cpuSeconds += own.reduce(0) { $0 + $1.cpuSeconds }
    }
    totals.cpuSeconds = cpuSeconds
    // What lies there, also of runs that were killed; retired captures are not listed.
    for row in captures where attempts[row.id] != nil {
      totals.frames &+= frames[row.id] ?? 0
      totals.bytes &+= row.timings.filter { $0.finished >= from }.reduce(0) { $0 &+ $1.bytes }
    }
    return totals
  }

  private func free() -> NightReport.FreeSpace {
    guard let space = try? FileSystemSpace(at: view.root) else {
      return NightReport.FreeSpace(bytes: 0, inodes: nil)
    }
    return NightReport.FreeSpace(
      bytes: space.freeBytes, inodes: space.freeFiles, totalBytes: space.totalBytes,
      reserveBytes: view.reserveBytes ?? space.usualReserve)
  }
}

/// Which runs a report is about.
public enum RunSelection: Sendable {
  /// One, by the beginning of its id.
  case run(String)
  /// Runs that were at work at this time or later (nanoseconds since 1970).
  case since(Int64)

  /// Why no run is meant.
  public enum Problem: Error, Hashable {
    case noSuchRun(String)
    /// The beginning of several ids.
    case several([String])
  }

  /// The runs that are meant, oldest first.
  func runs(of view: OutputSnapshot) throws(Problem) -> [RunEntry] {
    switch self {
    case .run(let text):
      switch IDPrefix.match(text, among: view.runs.map(\.id)) {
      case .one(let id): return view.runs.filter { $0.id == id }
      case .none: throw .noSuchRun(text)
      case .several(let ids): throw .several(ids)
      }
    case .since(let start):
      return view.runs.filter { run in
        // The journal of a killed run has no end; its last event counts as the end.
        (UTCText.nanoseconds(run.end) ?? .min) >= start
      }
    }
  }

  /// Whether an attempt lies in what is asked for: of a run that began before, only what ended since.
  func includes(_ attempt: RunEntry.Attempt, of run: RunEntry) -> Bool {
    guard case .since(let start) = self else { return true }
    guard let end = UTCText.nanoseconds(run.end(of: attempt)) else { return true }
    return end >= start
  }
}

extension NightReport {
  /// The object of `report --json`: the bytes that `JSONText.pretty` gives, made on all cores.
  public func json() throws -> [UInt8] {
    var frame = self
    frame.captures = []
    return try ListJSON.pretty(frame, captures: captures)
  }
}

/// What earlier nights and all devices tell, and what happened when in this one.
extension NightReportBuilder {
  static let mostNights = 14

  /// The last nights with a run, oldest first; this one is not among them.
  static func nights(_ runs: [RunEntry], before from: String, now: Int64) -> [NightReport.Night] {
    let tonight = UTCText.nanoseconds(from).map(NightClock.night) ?? NightClock.night(of: now)
    var byNight: [String: [RunEntry]] = [:]
    for run in runs {
      guard let start = UTCText.nanoseconds(run.started) else { continue }
      let night = NightClock.night(of: start)
      if night < tonight { byNight[night, default: []].append(run) }
    }
    return byNight.keys.sorted().suffix(mostNights).map { date in
      var latest: [String: RunEntry.Attempt] = [:]
      var night = NightReport.Night(date: date)
      for run in byNight[date] ?? [] {
        for attempt in run.attempts where attempt.isWork {
          latest[attempt.capture] = attempt
          night.bytes &+= attempt.bytes
        }
        night.hours += run.seconds / 3600
      }
      night.captures = latest.count
      night.failed = latest.values.count(where: \.hasFailed)
      return night
    }
  }

  /// More than this per device are only counted.
  private static let mostNotSafe = 200

  /// When a capture came in: when its files were written, but not after the first run, since files that are copied or
  /// restored later have times of that.
  private static func arrival(of row: CaptureRow) -> String {
    let written = row.received?.arrivedNanoseconds.map {
      UTCText.text(milliseconds: $0 / 1_000_000)
    }
    return [written, row.firstRun].compactMap(\.self).min() ?? row.recordedAt ?? ""
  }

  /// The devices by their last upload, newest first.
  static func devices(_ rows: [CaptureRow]) -> [NightReport.Device] {
    var devices: [String: NightReport.Device] = [:]
    var judged: [String: [QualityTrend.Sample]] = [:]
    for row in rows {
      guard let name = row.device else { continue }
      let time = arrival(of: row)
      var device = devices[name] ?? NightReport.Device(device: name, captures: 0, lastUpload: time)
      device.captures += 1
      device.lastUpload = max(device.lastUpload, time)
      let custody = Custody(row)
      device.receivedFiles += custody.receivedFiles ?? 0
      device.expectedFiles += custody.expectedFiles ?? custody.receivedFiles ?? 0
      if custody.isSafe {
        device.safe += 1
      } else if device.notSafe.count < mostNotSafe {
        device.notSafe.append(.init(id: row.id, reasons: custody.lacks))
      }
      devices[name] = device
      if let quality = row.quality {
        judged[name, default: []].append(
          QualityTrend.Sample(
            // Devices that their owners call the same are not one device.
            device: row.deviceInfo.id ?? "", family: row.family ?? "",
            time: row.recordedAt ?? time, id: row.id, quality: quality))
      }
    }
    for (name, samples) in judged {
      let trends = QualityTrend.all(of: samples)
      if !trends.isEmpty { devices[name]?.quality = trends }
    }
    return devices.values.sorted {
      ($1.lastUpload, $0.device) < ($0.lastUpload, $1.device)
    }
  }

  /// What is different from the last night with a run before this one.
  static func changes(
    _ runs: [RunEntry], _ rows: [CaptureRow], before from: String, now: Int64
  ) -> NightChanges? {
    guard let start = UTCText.nanoseconds(from) else { return nil }
    let tonight = NightClock.night(of: start)
    var (then, last): ([String: Bool], String) = ([:], "")
    var firstNights: [String: String] = [:]
    for run in runs {
      for attempt in run.attempts where attempt.isWork {
        guard let time = UTCText.nanoseconds(attempt.started ?? run.started) else { continue }
        let night = NightClock.night(of: time)
        if firstNights[attempt.capture] == nil { firstNights[attempt.capture] = night }
        guard night < tonight, attempt.outcome != nil else { continue }
        last = max(last, night)
        then[attempt.capture] = attempt.neededPerson
      }
    }
    guard !last.isEmpty else { return nil }
    var changes = NightChanges(
      date: last, received: firstNights.values.count { $0 >= tonight },
      receivedBefore: firstNights.values.count { $0 == last })
    for row in rows {
      let needs = row.needsPerson
      // What no run has worked on needed a person then if it has been as it is since.
      let since = row.since.flatMap(UTCText.nanoseconds)
      let needed = then[row.id] ?? (needs && since.map { $0 < start } == true)
      switch (needed, needs) {
      case (true, true): changes.stillNeeding.append(row.id)
      case (false, true): changes.newlyNeeding.append(row.id)
      // A capture that was only marked is not repaired.
      case (true, false) where row.state == .done && row.mark?.isCurrent != true:
        changes.repaired.append(row.id)
      case (true, false), (false, false): break
      }
    }
    return changes
  }

  /// Beyond this many they cannot be seen.
  static let mostSpans = 20_000

  /// One span per attempt of which the times are known, by start; of very many the last ones.
  static func timeline(
    _ runs: [RunEntry], _ selection: RunSelection, pauses: [WatchRecord.PauseReason] = [],
    from start: String = "", now: String
  ) -> [NightReport.Span] {
    var spans = pauses.filter { ($0.to ?? now) >= start && $0.from <= now }.map {
      NightReport.Span(
        capture: nil, kind: $0.kind, from: max($0.from, start), to: $0.to ?? now)
    }
    for run in runs {
      for attempt in run.attempts where selection.includes(attempt, of: run) {
        guard let start = attempt.started else { continue }
        let end = attempt.finished ?? run.finished ?? run.lastEvent ?? now
        let kind = (attempt.outcome ?? .interrupted).rawValue
        spans.append(
          NightReport.Span(
            capture: attempt.capture, kind: kind, from: start, to: max(start, end), run: run.id))
      }
    }
    spans.sort { ($0.from, $0.capture ?? "") < ($1.from, $1.capture ?? "") }
    return spans.suffix(mostSpans)
  }
}
