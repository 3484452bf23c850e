import Captures
import Core
import SystemPackage

/// An output folder as it stands: every capture that is in it or that a watcher saw, and all runs.
public struct OutputSnapshot: Sendable {
  public let root: FilePath
  /// The captures by id.
  public var rows: [CaptureRow]
  /// How many captures were turned down without a look at their results.
  public internal(set) var leftOut = 0
  /// The runs, oldest first.
  public let runs: [RunEntry]
  /// `nil`: no watcher ever looked at anything for this output.
  public let watch: NightReport.Watch?
  public internal(set) var unrecognized: [RunReport.Unrecognized]
  /// Captures whose results have left the output, by id.
  public private(set) var retired: [NightReport.Retired] = []
  /// How many uploads went within the last day before anything of them was done; `nil`: none.
  let disappeared: Int?
  /// Bytes of the disk that the watcher leaves free, where it was told how many.
  let reserveBytes: Int64?
  /// When captures waited for something else than a worker.
  let pauses: [WatchRecord.PauseReason]
  /// When the watcher will be done; `nil`: none is at work.
  let forecast: NightForecast?
  /// Time of this look: nanoseconds since 1970.
  public let now: Int64
  let histories: [String: RunEntry.History]

  /// By how much clocks of machines that share an output may differ.
  private static let mostClockDifference: Int64 = 600_000_000_000

  /// What to say of runs that are dated in the future; `nil`: there are none.
  public var futureRuns: String? {
    let late = runs.filter {
      (UTCText.nanoseconds($0.started) ?? .min) > now &+ Self.mostClockDifference
    }
    guard let last = late.last else { return nil }
    return
      "\(Plural.text(late.count, "run")) dated in the future, the last \(last.id): the clock was wrong then, or is wrong "
      + "now; what is dated last counts as the latest"
  }

  /// - Parameters:
  ///   - entries: of captures that have an output folder.
  ///   - locked: those that a run holds.
  ///   - record: what the last watcher noted.
  init(
    root: FilePath, entries: [CaptureRow], locked: Set<String>, runs: [RunEntry],
    record: WatchRecord?, isWatcherAlive: Bool, now: Int64
  ) {
    let runs = Self.renamed(runs, entries)
    self.root = root
    self.runs = runs
    self.now = now
    histories = Self.histories(runs)
    watch = record.map {
      var watch = NightReport.Watch(
        alive: isWatcherAlive, staging: PathText.shown($0.staging), lastLook: $0.lastLook,
        trouble: $0.stagingTrouble)
      if isWatcherAlive, let hold = $0.holds.last, hold.to == nil {
        (watch.holds, watch.holdsFor) = ($0.holdsBecause, hold.kind)
      }
      if !isWatcherAlive, $0.ended == nil { watch.killed = true }
      watch.ended = $0.ended
      if isWatcherAlive, $0.ended == nil { watch.renewsPageSeconds = $0.renewsPageSeconds }
      return watch
    }
    reserveBytes = record?.reserveBytes
    pauses = record?.holds ?? []
    let gone = record?.disappeared?.count ?? 0
    disappeared = gone > 0 ? gone : nil
    forecast = isWatcherAlive && record?.ended == nil ? record?.forecast : nil
    unrecognized = record?.unrecognized ?? Self.lastUnrecognized(runs)
    var waiting = Dictionary(grouping: record?.waiting ?? []) { $0.id }
    // Rows are large: they are settled where they are.
    var rows = entries
    // While STAGING cannot be read, captures that seem absent may still exist.
    let isBlind = record.map(Self.isBlind) ?? false
    let isRunOpen = runs.last.map { $0.mayGoOn(in: root, nowNanoseconds: now) } ?? false
    for index in rows.indices {
      let id = rows[index].id
      let own = waiting[id]?.firstIndex { Self.isAbout($0, rows[index]) }
      if isBlind { rows[index].gone = false }
      rows[index].settle(
        isLocked: locked.contains(id), waiting: own.flatMap { waiting[id]?.remove(at: $0) },
        watcher: watch, history: histories[id], isRunOpen: isRunOpen)
      rows[index].judge()
    }
    let others = (record?.waiting ?? []).filter { waiting[$0.id]?.contains($0) == true }
    let names =
      others.isEmpty
      ? [:]
      : Dictionary(rows.compactMap { row in row.deviceInfo.id.map { ($0, row.device) } }) {
        _, last in last
      }
    for other in others {
      var row = CaptureRow(other, watcher: watch, history: histories[other.id])
      row.deviceInfo.name = other.device.flatMap { names[$0] ?? nil }
      row.judge()
      rows.append(row)
    }
    self.rows = Self.twinned(rows.inOrder)
  }

  /// Each `X~2` with the place of `X`.
  private static func twinned(_ rows: [CaptureRow]) -> [CaptureRow] {
    guard rows.indices.contains(where: { rows[$0].twinOf != nil }) else { return rows }
    let paths = Dictionary(firstOf: rows.map { ($0.id, $0.path) })
    return rows.map { row in
      var row = row
      row.pathOfNamesake = row.twinOf.flatMap { paths[$0] ?? nil }
      return row
    }
  }

  /// Takes in captures that a run failed at, or was interrupted, before anything of them was made, and that have no folder in the output:
  /// what runs and reports tell of them stays until a run goes well, or their place is gone. What lies in STAGING is the
  /// watcher's to tell of.
  mutating func takeUnmade() {
    let known = Set(rows.map(\.id))
    var unmade: [CaptureRow] = []
    for (id, history) in histories where !known.contains(id) {
      let latest = history.latest
      guard latest.hasFailed || latest.outcome == .interrupted, latest.failures.isEmpty,
        let path = latest.path,
        watch?.looksAt(path) != true,
        FileSystem.exists(FilePath(text: path)),
        !OutputCatalog.isOutput(OutputLayout(root: root, name: id))
      else { continue }
      var row = CaptureRow(history)
      row.folder = path
      unmade.append(row)
    }
    if !unmade.isEmpty { rows = Self.twinned((rows + unmade).inOrder) }
  }

  /// Takes in what people decided. Captures that are retired have no row, marked folders are not told as unrecognized.
  ///
  /// - Parameters:
  ///   - unmarked: captures of which is known that they bear no mark in their own folder.
  ///   - scope: the capture that is looked at; `nil`: all.
  mutating func take(
    _ marks: MarkBook, unmarked: Set<String> = [], scope: String? = nil
  ) throws {
    for (index, mark) in try found(marks, unmarked).enumerated() where mark != nil {
      rows[index].mark = mark
      rows[index].judge()
    }
    if rows.contains(where: \.isRetired) { rows.removeAll(where: \.isRetired) }
    if marks.records.isEmpty { return }
    let now = now
    retired = marks.retired(nowNanoseconds: now).filter { scope == nil || $0.record.id == scope }
      .map {
        NightReport.Retired(
          id: $0.record.id, path: $0.record.folder.map(PathText.shown), mark: $0.mark)
      }
    let folders = Set(
      marks.records.filter { CaptureMark($0, nowNanoseconds: now).isCurrent }
        .compactMap { $0.folder.map(PathText.shown) })
    unrecognized.removeAll { folders.contains($0.path) }
  }

  /// The mark of each row. No list of rows outlives it, so that a row is marked without a copy of all.
  private func found(_ marks: MarkBook, _ unmarked: Set<String>) throws -> [CaptureMark?] {
    let (rows, root, now) = (rows, root, now)
    let hasOthers = !marks.records.isEmpty
    return try concurrentMap(rows.indices, share: 128) { index -> CaptureMark? in
      let isUnmarked = unmarked.contains(rows[index].id)
      if isUnmarked, !hasOthers { return nil }
      let row = rows[index]
      let location = row.folder.map {
        CaptureLocation(FilePath(text: $0), stem: row.stem)
      }
      return marks.mark(
        of: OutputLayout(root: root, name: row.id), at: location, isUnmarked: isUnmarked,
        nowNanoseconds: now)
    }
  }

  /// Whether what the watcher saw is this capture: another place may have the same name.
  private static func isAbout(_ waiting: WatchRecord.Waiting, _ entry: CaptureRow) -> Bool {
    guard let folder = entry.folder else { return true }
    return waiting.path == folder || waiting.path == PathText.shown(folder)
      || waiting.path == entry.path
      || entry.stem.map { waiting.path == "\(folder)/\($0)" } == true
  }

  /// STAGING that is not there, or an empty mount point, says nothing about captures.
  private static func isBlind(_ record: WatchRecord) -> Bool {
    if record.stagingTrouble != nil { return true }
    guard let folder = HeldFolder(FilePath(text: record.staging)) else { return true }
    return (try? folder.list())?.isEmpty ?? true
  }

  /// The folders that the newest run that has ended did not recognize, for an output without a watcher.
  private static func lastUnrecognized(_ runs: [RunEntry]) -> [RunReport.Unrecognized] {
    (runs.last { $0.finished != nil }?.unrecognized ?? []).filter {
      FileSystem.exists(FilePath(text: $0.path))
    }
  }

  /// What runs tell of captures by ids that they had before they were renamed is about the ids that they have now,
  /// unless another capture has the former one.
  private static func renamed(_ runs: [RunEntry], _ entries: [CaptureRow]) -> [RunEntry] {
    var names: [String: String] = [:]
    for index in entries.indices {
      for name in entries[index].formerNames { names[name] = entries[index].id }
    }
    if names.isEmpty { return runs }
    let present = Set(entries.map(\.id))
    return runs.map { run in
      var run = run
      for index in run.attempts.indices {
        let id = run.attempts[index].capture
        if let name = names[id], !present.contains(id) { run.attempts[index].capture = name }
      }
      return run
    }
  }

  static func histories(_ runs: [RunEntry]) -> [String: RunEntry.History] {
    var found: [String: RunEntry.History] = [:]
    for run in runs {
      for attempt in run.attempts where attempt.isWork {
        let time = run.end(of: attempt)
        let before = found[attempt.capture]
        let failed = attempt.hasFailed ? (before?.failedInARow ?? 0) + 1 : 0
        found[attempt.capture] = RunEntry.History(
          latest: attempt, run: run.id, time: time,
          // An interrupt is neither a failure nor a success.
          failedInARow: attempt.hasFailed || attempt.hasSucceeded
            ? failed : before?.failedInARow ?? 0,
          first: before?.first ?? attempt.started ?? run.started,
          pipeline: run.pipelinePath ?? run.pipeline)
      }
    }
    return found
  }

  /// Leaves everything private that is known of this output out. Adds aliases of new captures to the table
  /// in `.scanmill/`.
  public var redaction: Redaction {
    var known = Set(rows.map(\.id))
    var subjects = rows.map(\.subject)
    for run in runs {
      for attempt in run.attempts where known.insert(attempt.capture).inserted {
        subjects.append(
          Redaction.Subject(id: attempt.capture, family: attempt.family, path: attempt.path))
      }
    }
    var users: Set<String> = []
    for user in runs.compactMap(\.user) where !user.isEmpty { users.insert(user) }
    return Redaction(
      output: root, subjects: subjects, staging: watch?.staging, users: users.sorted())
  }
}

extension CaptureRow {
  /// Whether nothing of it was processed, and it was retired.
  fileprivate var isRetired: Bool { page == nil && mark?.isRetired == true }
}

extension [CaptureRow] {
  /// The rows by id. Rows are large: their indices are sorted, and rows that are in order are not copied.
  public var inOrder: [CaptureRow] {
    let order = indices.sorted { self[$0].id < self[$1].id }
    return order.elementsEqual(indices) ? self : order.map { self[$0] }
  }
}
