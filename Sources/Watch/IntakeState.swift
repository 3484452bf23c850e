import Captures
import Output
import Pipeline
import Runner
import Storage
import SystemPackage

/// All places in STAGING and how each stands. Decides by what looks found and by a clock that only goes
/// forward; reads nothing itself.
struct IntakeState: Sendable {
  /// What has to be found out about a place before the next step.
  struct Question: Sendable {
    var location: CaptureLocation
    var stamp: FolderSignature
    var recognition: Recognition
    var target: CaptureTarget?
    /// It has been at rest long enough: it may be opened.
    var mayOpen: Bool
    /// Whether its family's rule of completeness is asked.
    var asksForFiles: Bool
  }

  enum Answer: Sendable {
    case done(hasWarnings: Bool, isShort: Bool = false, OutputSignature?)
    case failed(AttemptFailure)
    case quarantined(AttemptFailure)
    case incomplete(missing: [String], device: String? = nil)
    case ready
    /// Nothing is known of it without opening it.
    case unknown
  }

  /// A capture that went before it was done.
  struct Lost: Sendable, Hashable {
    var entry: WatchRecord.Waiting
    var location: CaptureLocation
    var mark: CaptureMark?
  }

  private(set) var entries: [CaptureLocation: StagingEntry] = [:]
  /// By the name of the folder in the output.
  private var locations: [String: CaptureLocation] = [:]
  private(set) var lost: [Lost] = []
  /// Captures that went after they were done or given up, by state.
  private(set) var departed: [CaptureState: Int] = [:]
  /// Of these the done ones that somebody has to look at.
  private(set) var departedShort = 0
  /// Of these the ones that would need a person and were marked.
  private(set) var departedAcknowledged = 0
  private var settings: WatchSettings
  private var nextOrder = 0
  private var stagingID: FileID?
  /// Why the last look says nothing about what is gone.
  private(set) var stagingTrouble: String?
  /// A disk below STAGING that is not there: its captures wait, the others do not.
  private(set) var missingDisk: String?
  /// What was there when the last watcher ended; `nil` once a look has told what became of it.
  private(set) var previous: WatchRecord?

  /// What keeps the list of the lost from growing without end.
  private static let mostLost = 10_000

  init(_ settings: WatchSettings, previous: WatchRecord? = nil) {
    self.settings = settings
    self.previous = previous
    for waiting in previous?.waiting ?? [] where waiting.gone == true {
      lost.append(Lost(entry: waiting, location: CaptureLocation(waiting)))
    }
  }

  // MARK: Looks

  /// STAGING could not be looked at.
  mutating func takeTrouble(_ text: String) { stagingTrouble = text }

  /// Takes in what a look found.
  ///
  /// - Parameters:
  ///   - recorded: when a stamp was first seen by an earlier process, on the same clock.
  ///   - nearestPlace: the nearest folder that is there above one that is not.
  mutating func take(
    _ snapshot: StagingSnapshot, nowSeconds: Double, nowText: String,
    recorded: (CaptureLocation, FolderSignature) -> (seconds: Double, text: String)? = { _, _ in nil
    },
    nearestFolder: (FilePath) -> FileID? = FileID.nearest
  ) {
    if let trouble = unmounted(snapshot) {
      stagingTrouble = trouble
      return
    }
    stagingTrouble = nil
    missingDisk = nil
    stagingID = snapshot.folderID
    var met: Set<CaptureLocation> = []
    for seen in snapshot.captures {
      let location = CaptureLocation(seen.recognition)
      met.insert(location)
      take(seen, at: location, nowSeconds, nowText, recorded)
    }
    for stranger in snapshot.strangers {
      let location = CaptureLocation(folder: stranger.folder.path)
      met.insert(location)
      take(stranger, at: location, nowSeconds, nowText, recorded)
    }
    if !lost.isEmpty { lost.removeAll { met.contains($0.location) } }
    takeMissing(met, nowText, nearestFolder)
    takePrevious(met, nowText)
    advance(nowSeconds)
  }

  /// An empty mount point is not "all captures are gone".
  private func unmounted(_ snapshot: StagingSnapshot) -> String? {
    let isKnown = !entries.isEmpty || (previous?.known ?? 0) > 0
    guard snapshot.captures.isEmpty, snapshot.strangers.isEmpty, isKnown else { return nil }
    if let stagingID, let now = snapshot.folderID, now != stagingID {
      return
        "STAGING is a different folder than before, and holds no captures: is its disk mounted?"
    }
    if stagingID == nil, snapshot.isEmpty, let previous {
      let captures = previous.known == 1 ? "capture" : "captures"
      return "STAGING is empty, but held \(previous.known) \(captures) at the last look at "
        + "\(previous.lastLook): is its disk mounted?"
    }
    return nil
  }

  private mutating func take(
    _ seen: StagingSnapshot.Seen, at location: CaptureLocation, _ nowSeconds: Double,
    _ nowText: String,
    _ recorded: (CaptureLocation, FolderSignature) -> (seconds: Double, text: String)?
  ) {
    var entry =
      entries[location]
      ?? newEntry(location, seen.stamp, nowSeconds, nowText, recorded(location, seen.stamp))
    entry.isMissing = false
    if case .failed(let trouble) = entry.phase, trouble.isGone {
      // It is there again.
      entry.phase = .moving
      entry.isFresh = true
    }
    entry.holds = []
    entry.mark = seen.mark
    entry.isOnItsWay = seen.isOnItsWay
    entry.folderID = seen.folderID
    if entry.recognition != seen.recognition {
      // Found to be something else than before.
      if let old = entry.target, entry.recognition != nil, !entry.isRunning {
        locations[old.layout.name] = nil
        entry.target = nil
      }
      entry.recognition = seen.recognition
      if case .stranger = entry.phase { entry.phase = .moving }
    }
    note(seen.stamp, in: &entry, nowSeconds, nowText)
    entries[location] = entry
  }

  private mutating func take(
    _ stranger: StagingSnapshot.UnrecognizedUpload, at location: CaptureLocation,
    _ nowSeconds: Double,
    _ nowText: String,
    _ recorded: (CaptureLocation, FolderSignature) -> (seconds: Double, text: String)?
  ) {
    var entry =
      entries[location]
      ?? newEntry(location, stranger.stamp, nowSeconds, nowText, recorded(location, stranger.stamp))
    entry.isMissing = false
    if !entry.isRunning {
      if let old = entry.target { locations[old.layout.name] = nil }
      entry.recognition = nil
      entry.target = nil
    }
    entry.holds = stranger.folder.holds
    note(stranger.stamp, in: &entry, nowSeconds, nowText)
    entries[location] = entry
  }

  private mutating func newEntry(
    _ location: CaptureLocation, _ stamp: FolderSignature, _ nowSeconds: Double, _ nowText: String,
    _ recorded: (seconds: Double, text: String)?
  ) -> StagingEntry {
    nextOrder += 1
    return StagingEntry(
      location: location, recognition: nil, stamp: stamp,
      sinceSeconds: recorded?.seconds ?? nowSeconds,
      since: recorded?.text ?? nowText, order: nextOrder)
  }

  private func note(
    _ stamp: FolderSignature, in entry: inout StagingEntry, _ nowSeconds: Double, _ nowText: String
  ) {
    if stamp != entry.stamp {
      entry.stamp = stamp
      entry.sinceSeconds = nowSeconds
      entry.since = nowText
      entry.isFresh = true
      entry.machineTries = 0
      if !entry.isRunning { entry.phase = .moving }
    }
    if stamp.isTransferring || entry.isOnItsWay {
      // A transfer that was broken off leaves its file: that is no rest.
      entry.sinceSeconds = nowSeconds
      if !entry.isRunning { entry.phase = .moving }
    }
  }

  private mutating func takeMissing(
    _ met: Set<CaptureLocation>, _ nowText: String, _ nearestFolder: (FilePath) -> FileID?
  ) {
    let missing = entries.filter { !met.contains($0.key) }
    if missing.isEmpty { return }
    let stamps = Set(met.compactMap { entries[$0]?.stamp })
    for (location, entry) in missing {
      if let before = entry.folderID, FileID(ofFolder: location.folder) == nil,
        let above = nearestFolder(location.folder), above.device != before.device
      {
        missingDisk =
          "\(location.folder.shown) and what was next to it are gone: is its disk mounted?"
        entries[location]?.isMissing = true
        continue
      }
      if entry.isRunning {
        // What becomes of it is told by its worker.
        entries[location]?.isMissing = true
        continue
      }
      remove(location)
      // Renamed: the same files are seen elsewhere.
      if stamps.contains(entry.stamp) { continue }
      depart(entry, nowText)
    }
  }

  private mutating func remove(_ location: CaptureLocation) {
    if let name = entries.removeValue(forKey: location)?.target?.layout.name,
      locations[name] == location
    {
      locations[name] = nil
    }
  }

  private mutating func depart(_ entry: StagingEntry, _ nowText: String) {
    if entry.decision?.isRetired == true { return }
    switch entry.phase {
    case .done, .quarantined:
      if let state = entry.state { departed[state, default: 0] += 1 }
      if entry.isShort { departedShort += 1 }
      if entry.isAcknowledged { departedAcknowledged += 1 }
    case .failed(let trouble) where trouble.isNoted: departed[.failed, default: 0] += 1
    case .stranger: break
    case .moving, .judging, .incomplete, .queued, .running, .failed:
      guard let recognition = entry.recognition else { return }
      var waiting = WatchRecord.Waiting(
        id: entry.name, family: recognition.family.rawValue, path: entry.location.folder.text,
        state: .failed, since: nowText)
      waiting.stem = recognition.stem
      waiting.gone = true
      waiting.cause = .machine
      waiting.message = "its folder disappeared from STAGING before it was done"
      lost.append(Lost(entry: waiting, location: entry.location))
      if lost.count > Self.mostLost { lost.removeFirst(lost.count - Self.mostLost) }
    }
  }

  /// What the last watcher saw and this one does not.
  private mutating func takePrevious(_ met: Set<CaptureLocation>, _ nowText: String) {
    guard let before = previous else { return }
    previous = nil
    for waiting in before.waiting where waiting.gone != true && !waiting.family.isEmpty {
      let location = CaptureLocation(waiting)
      guard !met.contains(location) else { continue }
      var waiting = waiting
      waiting.state = .failed
      waiting.since = nowText
      waiting.gone = true
      waiting.cause = .machine
      waiting.message =
        "its folder disappeared from STAGING while no watcher was running, before it was done"
      lost.append(Lost(entry: waiting, location: location))
    }
  }

  /// What time alone changes.
  private mutating func advance(_ nowSeconds: Double) {
    for (location, entry) in entries where !entry.isMissing {
      if entry.decision?.isLeftAlone == true, !entry.phase.isAtRestOrMoving { continue }
      let rest = nowSeconds - entry.sinceSeconds
      switch entry.phase {
      case .moving:
        let isMoving = entry.stamp.isTransferring || entry.isOnItsWay
        guard !isMoving, entry.mark.isSettled || rest >= settings.settleSeconds else { continue }
        entries[location]?.phase = entry.recognition == nil ? .stranger : .judging
      case .incomplete:
        if entry.mark.isComplete || rest >= settings.patienceSeconds {
          entries[location]?.phase = .queued
        }
      case .failed(let trouble):
        guard let at = trouble.retryAtSeconds, nowSeconds >= at else { continue }
        entries[location]?.phase = .queued
      default: continue
      }
    }
  }

  // MARK: Questions

  /// What has to be found out now, in the order of arrival.
  func questions(nowSeconds: Double) -> [Question] {
    entries.values.filter { entry in
      if entry.isMissing { return false }
      if case .judging = entry.phase { return true }
      if case .moving = entry.phase {
        return entry.isFresh && entry.recognition != nil && !entry.stamp.isTransferring
      }
      return false
    }.sorted { $0.order < $1.order }.compactMap { entry in
      guard let recognition = entry.recognition else { return nil }
      let mayOpen = if case .judging = entry.phase { true } else { false }
      return Question(
        location: entry.location, stamp: entry.stamp, recognition: recognition,
        target: entry.target,
        mayOpen: mayOpen,
        asksForFiles: !entry.mark.isComplete
          && nowSeconds - entry.sinceSeconds < settings.patienceSeconds)
    }
  }

  /// Takes in what was found out, unless the place has changed meanwhile.
  mutating func answer(_ question: Question, _ answer: Answer) {
    guard var entry = entries[question.location], entry.stamp == question.stamp, !entry.isRunning
    else { return }
    entry.isFresh = false
    if entry.phase.isAtRestOrMoving {
      switch answer {
      case .done(let hasWarnings, let isShort, let signature):
        entry.phase = .done(hasWarnings: hasWarnings, isShort: isShort)
        entry.outputSignature = signature
      case .failed(let trouble): entry.phase = .failed(trouble)
      case .quarantined(let trouble): entry.phase = .quarantined(trouble)
      case .incomplete(let missing, let device):
        entry.phase = .incomplete(missing: missing)
        entry.device = device
      case .ready: entry.phase = .queued
      case .unknown: break
      }
    }
    entries[question.location] = entry
  }

  /// Gives places their folders in the output.
  mutating func assign(_ targets: [CaptureLocation: CaptureTarget]) {
    for (location, target) in targets {
      guard entries[location] != nil else { continue }
      if let old = entries[location]?.target?.layout.name, locations[old] == location {
        locations[old] = nil
      }
      entries[location]?.target = target
      locations[target.layout.name] = location
    }
  }

  /// Captures without a folder in the output yet, in the order of arrival; those whose folder is not theirs
  /// yet are among them, so that all are decided together.
  var unassigned: [StagingEntry] {
    entries.values.filter {
      $0.recognition != nil && ($0.target?.isClaimed != true) && !$0.isRunning
    }
    .sorted { $0.order < $1.order }
  }

  /// Lets everything be judged anew: the pipeline or the program is another one.
  mutating func judgeAgain() {
    for (location, entry) in entries {
      switch entry.phase {
      case .done, .failed, .quarantined, .queued, .incomplete: entries[location]?.phase = .judging
      case .running: entries[location]?.isOutdated = true
      case .moving, .judging, .stranger: break
      }
    }
  }

  /// Lets a capture be judged anew whose output is not as it was.
  mutating func judgeAgain(_ location: CaptureLocation) {
    guard case .done = entries[location]?.phase else { return }
    entries[location]?.phase = .judging
  }

  // MARK: Marks

  /// Takes in what people decided; what is not named has no mark. Whether anything is otherwise than before.
  mutating func take(_ marks: [CaptureLocation: CaptureMark]) -> Bool {
    var hasChanged = false
    for (location, entry) in entries where entry.decision != marks[location] {
      entries[location]?.decision = marks[location]
      hasChanged = true
    }
    for index in lost.indices where lost[index].mark != marks[lost[index].location] {
      lost[index].mark = marks[lost[index].location]
      hasChanged = true
    }
    return hasChanged
  }

  /// Takes in what somebody decided about a capture just now.
  mutating func take(_ mark: CaptureMark, at location: CaptureLocation) {
    entries[location]?.decision = mark
  }

  // MARK: Work

  /// The captures that wait to be processed, in the order of arrival.
  var queue: [StagingEntry] {
    entries.values.filter {
      if case .queued = $0.phase {
        !$0.isMissing && $0.decision?.isLeftAlone != true
      } else {
        false
      }
    }
    .sorted { $0.order < $1.order }
  }

  mutating func start(_ location: CaptureLocation) {
    guard let stamp = entries[location]?.stamp else { return }
    entries[location]?.phase = .running(stamp: stamp)
  }

  /// The entry whose results go to a folder of the output.
  func entry(named name: String) -> StagingEntry? { locations[name].flatMap { entries[$0] } }

  /// How the work on a capture has ended.
  mutating func end(_ location: CaptureLocation, _ phase: StagingEntry.Phase, _ nowText: String) {
    guard var entry = entries[location], case .running(let stamp) = entry.phase else { return }
    entry.phase = phase
    if case .failed(let trouble) = phase { entry.machineTries = trouble.machineTries }
    let hasChanged = stamp != entry.stamp
    if entry.isOutdated {
      entry.isOutdated = false
      entry.phase = .judging
    }
    entries[location] = entry
    if entry.isMissing {
      remove(location)
      depart(entry, nowText)
    } else if hasChanged {
      entries[location]?.phase = .moving
      entries[location]?.isFresh = true
    }
  }

  mutating func noteOutput(_ location: CaptureLocation, _ signature: OutputSignature?) {
    entries[location]?.outputSignature = signature
  }

  /// Interrupted, or given back without having been started: no failure.
  mutating func giveBack(_ location: CaptureLocation) {
    guard let entry = entries[location], entry.isRunning else { return }
    if entry.isMissing {
      entries[location]?.phase = .queued
      let left = entries[location] ?? entry
      remove(location)
      depart(left, left.since)
    } else {
      entries[location]?.phase = .queued
    }
  }

  var running: [StagingEntry] { entries.values.filter(\.isRunning) }
}

extension StagingEntry {
  var isRunning: Bool { if case .running = phase { true } else { false } }

  /// Whether it would need a person and a mark says that it does not.
  var isAcknowledged: Bool {
    decision?.isAcknowledged == true && (state?.needsPerson == true || isShort)
  }
}

extension StagingEntry.Phase {
  fileprivate var isAtRestOrMoving: Bool {
    switch self {
    case .moving, .judging: true
    default: false
    }
  }
}

extension CaptureLocation {
  init(_ waiting: WatchRecord.Waiting) {
    self.init(folder: FilePath(text: waiting.path), stem: waiting.stem)
  }
}
