import Captures
import Core
import Engine

/// How everything stands, for records, metrics and one sentence.
struct WatchSummary {
  /// What `watch.json` tells, as far as the watcher's state has it.
  var record: WatchRecord
  var hold: WatchState.PauseReason?
  /// Tells stages and settings apart, as `WatchRecord.Cost.pipeline`; `nil`: not known.
  var pipeline: String?
  /// What is queued or at work, in the order of arrival.
  var remaining: [CompletionForecast.Item] = []
  /// Since when the capture that waits longest for anything has been as it is (UTC, ISO 8601).
  var longestWaiting: String?
  /// Since when the capture that waits longest among those that are queued or at work has been as it is (UTC, ISO
  /// 8601).
  var longestRemaining: String?
  /// The totals without what lies in the output and what was done for it.
  var totals = NightTotals()
  /// Whether the last look could not look at a capture, or at a folder that may hold some, and that bears no mark.
  private var isBlind = false
  /// When the capture that has waited longest last changed, on the monotonic clock.
  var oldestSince: Double?

  /// - Parameters:
  ///   - nowSeconds: on the monotonic clock.
  ///   - record: what is told besides.
  ///   - outputCounts: counts what is not in STAGING any more.
  init(
    _ state: WatchState.State, _ record: WatchRecord = .empty, nowSeconds: Double = 0,
    outputCounts: OutputCounts? = nil
  ) {
    self.init(
      state.intake, record, hold: state.hold, locked: state.locked, diskWaits: state.diskWaits,
      nowSeconds: nowSeconds, outputCounts: outputCounts)
    pipeline = state.work.diskKey
    self.record.lastDoneSeconds = state.lastDoneSeconds
    self.record.costs = state.costs
    self.record.tally = state.tally
  }

  init(
    _ intake: IntakeState, _ record: WatchRecord = .empty, hold: WatchState.PauseReason? = nil,
    locked: Set<String> = [], diskWaits: [CaptureLocation: Int64] = [:], nowSeconds: Double = 0,
    outputCounts: OutputCounts? = nil
  ) {
    self.record = record
    self.hold = hold
    self.record.stagingTrouble = intake.stagingTrouble ?? intake.missingDisk
    let disappeared = intake.disappeared
    self.record.disappeared = disappeared.last.isEmpty ? nil : disappeared.last
    self.record.disappearedTotal = disappeared.total > 0 ? disappeared.total : nil
    var present: [String: OutputCounts.Member] = [:]
    var retired: Set<String> = []
    for entry in intake.entries.values.sorted(by: { $0.order < $1.order }) {
      guard let state = entry.state else { continue }
      self.record.known += 1
      if entry.decision?.isRetired == true, !entry.isRunning {
        retired.insert(entry.name)
        continue
      }
      if entry.isUnseen, !entry.reasons.isEmpty { isBlind = true }
      let isLeftAlone = state == .queued && entry.decision?.isLeftAlone == true
      // The state of a marked capture comes from its results.
      let member =
        (isLeftAlone ? outputCounts?.member(entry.name) : nil)
        ?? OutputCounts.Member(
          state: state, needsPerson: !entry.reasons.isEmpty, mark: entry.decision)
      add(member)
      present[entry.name] = member
      if !isLeftAlone { note(entry, state, nowSeconds) }
      if state == .queued, !isLeftAlone {
        oldestSince = min(oldestSince ?? .infinity, entry.sinceSeconds)
      }
      if let waiting = Self.waiting(entry, state, hold, locked, diskWaits) {
        self.record.waiting.append(waiting)
      }
    }
    // STAGING has not been seen yet: what the last watcher knew stands.
    if let previous = intake.previous {
      self.record.known = previous.known
      for before in previous.waiting where before.gone != true {
        let reasons = NeedReason.all(
          before.state, failure: before.failure, missing: before.missing, upload: before.upload)
        add(OutputCounts.Member(state: before.state, needsPerson: !reasons.isEmpty))
        self.record.waiting.append(before)
      }
    }
    guard let outputCounts, outputCounts.isReady else { return }
    let names = Set(self.record.waiting.map(\.id)).subtracting(present.keys).union(retired)
    for member in outputCounts.others(present: present, elsewhere: names) { add(member) }
  }

  private mutating func add(_ member: OutputCounts.Member) {
    totals.add(member.state, needsPerson: member.needsPerson, mark: member.mark)
  }

  /// Takes in what of a capture counts for forecasts and for how long something waits.
  private mutating func note(_ entry: StagingEntry, _ state: CaptureState, _ nowSeconds: Double) {
    func older(_ known: String?) -> String { min(known ?? entry.since, entry.since) }
    switch state {
    case .queued, .running:
      longestRemaining = older(longestRemaining)
      if state == .queued { longestWaiting = older(longestWaiting) }
      let family = entry.recognition?.family.rawValue ?? ""
      var atWork: Double?
      if case .running(_, let start) = entry.phase { atWork = max(0, nowSeconds - start) }
      remaining.append(
        CompletionForecast.Item(
          family: family, bytes: entry.stamp.bytes, secondsAtWork: atWork))
    case .arriving, .incomplete, .stalledUpload: longestWaiting = older(longestWaiting)
    default: break
    }
  }

  private static func waiting(
    _ entry: StagingEntry, _ state: CaptureState, _ hold: WatchState.PauseReason?,
    _ locked: Set<String>, _ diskWaits: [CaptureLocation: Int64]
  ) -> WatchRecord.Waiting? {
    var waiting = WatchRecord.Waiting(
      id: entry.name, family: entry.recognition?.family.rawValue ?? "",
      path: entry.location.path.text, state: state, since: entry.since)
    waiting.stem = entry.recognition?.stem
    waiting.bytes = entry.stamp.bytes
    waiting.twinOf = entry.mark.twinOf
    switch entry.phase {
    case .moving, .judging, .running: return waiting
    case .stalled:
      waiting.upload = entry.upload
      return waiting
    case .incomplete(let missing, let device):
      (waiting.missing, waiting.device) = (missing, device)
      return waiting
    case .queued:
      waiting.waitsFor =
        entry.decision?.isLeftAlone == true
        ? "mark"
        : hold?.rawValue
          ?? (diskWaits[entry.location] != nil
            ? "disk" : locked.contains(entry.name) ? "lock" : "worker")
      waiting.neededBytes = diskWaits[entry.location]
      return waiting
    case .failed(let trouble):
      if trouble.isNoted { return nil }
      waiting.failure = trouble
      return waiting
    case .done, .unrecognized: return nil
    }
  }

  /// Whether something that was ready has not been processed, or something could not be looked at.
  var isOpen: Bool { totals.queued > 0 || isBlind }

  /// `41 of 44 captures are ready. 2 need you, 1 is still arriving.`
  func sentence(unrecognized: Int, hold: String?) -> String {
    var totals = totals
    totals.unrecognized = unrecognized
    return totals.sentence(nothingUrgent: hold == nil) + (hold.map { " Held: \($0)." } ?? "")
  }
}

extension WatchRecord {
  /// For who asks for the rest of a summary.
  static let empty = WatchRecord(staging: "", started: "", lastLook: "")
}

/// Uploads that went before anything of them was done. Memory: a bounded number of them.
struct DisappearedUploads {
  /// The last uploads that disappeared, oldest first.
  private(set) var last: [WatchRecord.Disappearance]
  /// How many, since the first watcher.
  private(set) var total: Int
  /// Uploads that have not been told yet.
  private var untold: [WatchRecord.Disappearance] = []

  private static let most = 1_000

  /// Goes on with what the last watcher noted.
  init(_ previous: WatchRecord?) {
    last = previous?.disappeared ?? []
    total = previous?.disappearedTotal ?? 0
  }

  mutating func add(_ id: String, _ location: CaptureLocation, time: String) {
    let found = WatchRecord.Disappearance(id: id, path: location.path.text, time: time)
    total += 1
    last.append(found)
    untold.append(found)
    if last.count > Self.most { last.removeFirst() }
    if untold.count > Self.most { untold.removeFirst() }
  }

  /// Forgets those that went before this time (UTC, ISO 8601). The total stays.
  mutating func forget(before time: String) { last.removeAll { $0.time < time } }

  /// The uploads that came since this was last asked.
  mutating func takeUntold() -> [WatchRecord.Disappearance] {
    defer { untold = [] }
    return untold
  }
}
