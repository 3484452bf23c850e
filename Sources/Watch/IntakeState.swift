import Captures
import Engine
import Core
import SystemPackage

/// All places in STAGING and how each stands. Decides by what looks found and by a clock that only goes
/// forward; reads nothing itself.
struct IntakeState {
  private var places = StagingPlaces()
  private var gone: GoneCaptures
  /// Uploads that went before anything of them was done.
  private(set) var disappeared: DisappearedUploads
  /// Results that are to follow their captures, which were renamed, since this was last asked.
  private var moves: [(name: String, to: CaptureLocation)] = []
  private var settings: WatchSettings
  private var nextOrder = 0
  private var stagingID: FileID?
  /// Why the last look says nothing about what is gone.
  private(set) var stagingTrouble: String?
  /// A disk below STAGING that is not there: its captures wait, the others do not.
  private(set) var missingDisk: String?
  /// What was there when the last watcher ended; `nil` once a look has told what became of it.
  private(set) var previous: WatchRecord?

  init(_ settings: WatchSettings, previous: WatchRecord? = nil) {
    self.settings = settings
    self.previous = previous
    // Two scans may miss a rename; a third one does not.
    gone = GoneCaptures(holdSeconds: settings.settleSeconds + 2 * settings.pollSeconds)
    disappeared = DisappearedUploads(previous)
  }

  // MARK: Places

  var entries: [CaptureLocation: StagingEntry] { places.entries }
  var queue: [StagingEntry] { places.queue }
  var unassigned: [StagingEntry] { places.unassigned }
  /// What has to be found out now, in the order of arrival.
  var questions: [StagingEntry] { places.doubtful }
  var nextUnverified: StagingEntry? { places.nextUnverified }
  var running: [StagingEntry] { places.running }
  func entry(named name: String) -> StagingEntry? { places.entry(named: name) }

  // MARK: Looks

  /// What a look is told beside what it found.
  private struct Look {
    var nowSeconds: Double
    var nowText: String
    var recorded: [CaptureLocation: StagingEntry] = [:]
  }

  /// STAGING could not be looked at.
  mutating func takeTrouble(_ text: String) { stagingTrouble = text }

  /// Takes in what a look found.
  ///
  /// - Parameters:
  ///   - recorded: what an earlier process noted, on the same clock.
  ///   - folderID: of a folder that is there; asked of places that were not found.
  ///   - nearestFolder: the nearest folder that is there above one that is not.
  mutating func take(
    _ snapshot: StagingSnapshot, nowSeconds: Double, nowText: String,
    recorded: [CaptureLocation: StagingEntry] = [:],
    folderID: (FilePath) -> FileID? = FileID.init(ofFolder:),
    nearestFolder: (FilePath) -> FileID? = FileID.nearest
  ) {
    if let trouble = unmounted(snapshot) {
      stagingTrouble = trouble
      return
    }
    stagingTrouble = nil
    missingDisk = nil
    stagingID = snapshot.folderID
    let look = Look(nowSeconds: nowSeconds, nowText: nowText, recorded: recorded)
    let found = snapshot.captures + snapshot.unrecognized
    var met = Set(found.map(\.location) + snapshot.copies.map(\.location))
    met.formUnion(takeUnreadable(snapshot.unreadable, met, look))
    takeMissing(met, look, folderID, nearestFolder)
    var matches = gone.takeMatches(newcomers(found))
    matches.merge(previousMatches(met, newcomers(found), look)) { known, _ in known }
    let twins = runningTwins(snapshot, matches)
    // The place to which the capture moved may be gone as well.
    for entry in entries.values.filter({ $0.movedTo != nil }) {
      places[entry.location]?.movedTo = nil
    }
    for seen in found {
      if let twin = twins[seen.location] {
        places[twin.location]?.movedTo = seen
        places[twin.location]?.lastSeen = seen.identity
        places[twin.location]?.isMovedForSure = twin.likeness == .certain
      } else {
        take(seen, matches[seen.location], look)
      }
    }
    for copy in snapshot.copies { takeCopy(at: copy.location) }
    takePrevious(met, look, folderID, matches)
    for gone in gone.takeExpired(nowSeconds: nowSeconds) { disappear(gone, folderID) }
    advance(nowSeconds)
  }

  /// An empty mount point is not "all captures are gone".
  private func unmounted(_ snapshot: StagingSnapshot) -> String? {
    let isKnown = !entries.isEmpty || (previous?.known ?? 0) > 0
    guard snapshot.captures.isEmpty, snapshot.unrecognized.isEmpty, isKnown else { return nil }
    if let stagingID, let now = snapshot.folderID, now != stagingID {
      return
        "STAGING is a different folder than before, and holds no captures: is its disk mounted?"
    }
    if stagingID == nil, snapshot.isEmpty, let previous {
      return
        "STAGING is empty, but held \(Plural.text(previous.known, "capture")) at the last look at "
        + "\(previous.lastLook): is its disk mounted?"
    }
    return nil
  }

  private func newcomers(_ found: [StagingSnapshot.Seen]) -> [StagingSnapshot.Seen] {
    found.filter { entries[$0.location] == nil }
  }

  /// New places of captures that are at work at a place that is gone. One that was seen there before is the same one,
  /// whatever has become of its files.
  private func runningTwins(
    _ snapshot: StagingSnapshot,
    _ matches: [CaptureLocation: GoneCaptures.Match]
  ) -> IdentityIndex.Matches {
    let missing = entries.values.filter { $0.isMissing && $0.isRunning }
    if missing.isEmpty { return [:] }
    let new = newcomers(snapshot.captures).filter { matches[$0.location] == nil }
    let places = Set(new.map(\.location))
    var twins: IdentityIndex.Matches = [:]
    var index = IdentityIndex()
    for entry in missing {
      if let place = entry.movedTo?.location, places.contains(place) {
        twins[place] = (entry.location, entry.isMovedForSure ? .certain : .folder)
      } else {
        index.add(entry.identity, at: entry.location)
      }
    }
    let others = index.matches(new.filter { twins[$0.location] == nil }).mapValues { twin in
      // The capture moved on from a place where its identity was not certain.
      let isForSure = entries[twin.location].map { $0.lastSeen == nil || $0.isMovedForSure }
      return (twin.location, isForSure == true ? twin.likeness : .folder)
    }
    return twins.merging(others) { known, _ in known }
  }

  private mutating func take(
    _ seen: StagingSnapshot.Seen, _ match: GoneCaptures.Match?, _ look: Look
  ) {
    var entry = entries[seen.location] ?? newEntry(seen, match, look)
    entry.isMissing = false
    entry.movedTo = nil
    entry.lastSeen = nil
    entry.forgetThatItWasGone()
    if case .incomplete = entry.phase, entry.mark.waitsFor != seen.mark.waitsFor {
      entry.isDoubted = true
    }
    entry.mark = seen.mark
    entry.folderID = seen.folderID
    entry.holds = seen.holds
    if entry.recognition != seen.recognition, seen.recognition != nil || !entry.isRunning {
      // Found to be something else than before.
      if !entry.isRunning {
        places.release(entry)
        entry.target = nil
        if entry.recognition?.family != seen.recognition?.family {
          entry.phase = .moving
          entry.isFresh = true
        }
      }
      entry.recognition = seen.recognition
      if case .unrecognized = entry.phase { entry.phase = .moving }
    }
    entry.note(seen.stamp, seen.incoming, nowSeconds: look.nowSeconds, nowText: look.nowText)
    places[seen.location] = entry
  }

  /// A second copy of another capture is none of its own.
  private mutating func takeCopy(at location: CaptureLocation) {
    guard let entry = entries[location], !entry.isRunning else { return }
    places.remove(location)
  }

  private mutating func newEntry(
    _ seen: StagingSnapshot.Seen, _ match: GoneCaptures.Match?, _ look: Look
  ) -> StagingEntry {
    if let back = gone.take(at: seen.location) { return returned(back) }
    if let match {
      let entry = match.entry.moved(to: seen.location, match.likeness)
      if let results = entry.earlierResults { moves.append((results, seen.location)) }
      return entry
    }
    nextOrder += 1
    var entry = StagingEntry(
      location: seen.location, recognition: nil, stamp: seen.stamp,
      sinceSeconds: look.nowSeconds, restsFromSeconds: look.nowSeconds, since: look.nowText,
      order: nextOrder)
    if let known = look.recorded[seen.location], known.stamp.digest == seen.stamp.digest,
      known.incoming?.progress == seen.incoming?.progress
    {
      entry = known
      (entry.stamp, entry.order) = (seen.stamp, nextOrder)
      // The last watcher ended before they followed it.
      if let results = known.earlierResults { moves.append((results, seen.location)) }
    }
    entry.incoming = seen.incoming
    return entry
  }

  /// Takes back a capture that is there again, at the same place.
  private mutating func returned(_ before: StagingEntry) -> StagingEntry {
    var entry = before
    entry.gone = nil
    places.reclaim(&entry)
    return entry
  }

  /// What could not be looked at is not gone: it has failed until it can be, and what is known below it stands as it
  /// did. Places of both.
  private mutating func takeUnreadable(
    _ unreadable: [CaptureLocation: FileError], _ met: Set<CaptureLocation>, _ look: Look
  ) -> Set<CaptureLocation> {
    var unseen: Set<CaptureLocation> = []
    for (location, error) in unreadable where !met.contains(location) {
      unseen.insert(location)
      var entry =
        entries[location]
        ?? newEntry(StagingSnapshot.Seen(location, FolderSignature(of: [])), nil, look)
      if !entry.isRunning { entry.phase = .failed(.unseen(error)) }
      places[location] = entry
    }
    guard !unreadable.isEmpty else { return unseen }
    let hidden = entries.keys.filter { location in
      !met.contains(location) && unreadable[location] == nil
        && unreadable.keys.contains { location.path.starts(with: $0.path) }
    }
    for location in hidden { places[location]?.isMissing = true }
    return unseen.union(hidden).union(
      (previous?.waiting ?? []).map { CaptureLocation($0) }.filter { location in
        unreadable.keys.contains { location.path.starts(with: $0.path) }
      })
  }

  private mutating func takeMissing(
    _ met: Set<CaptureLocation>, _ look: Look, _ folderID: (FilePath) -> FileID?,
    _ nearestFolder: (FilePath) -> FileID?
  ) {
    for (location, entry) in entries where !met.contains(location) {
      if let before = entry.folderID, folderID(location.path) == nil,
        let above = nearestFolder(location.path), above.device != before.device
      {
        missingDisk =
          "\(location.path.shown) and what was next to it are gone: is its disk mounted?"
        places[location]?.isMissing = true
        continue
      }
      if entry.isRunning {
        // What becomes of it is told by its worker.
        places[location]?.isMissing = true
        continue
      }
      places.remove(location)
      gone.hold(entry, nowSeconds: look.nowSeconds, nowText: look.nowText)
    }
  }

  /// Removes a capture that has not turned up elsewhere.
  private mutating func disappear(_ entry: StagingEntry, _ folderID: (FilePath) -> FileID?) {
    if entry.leavesRecord { return }
    // Folders without a capture come and go, and parts of captures become captures.
    if case .unrecognized = entry.phase { return }
    if entry.recognition == nil, folderID(entry.location.path) != nil { return }
    disappeared.add(entry.name, entry.location, time: entry.gone?.since ?? entry.since)
  }

  /// Forgets those that went before this time (UTC, ISO 8601).
  mutating func forgetDisappeared(before time: String) {
    disappeared.forget(before: time)
  }

  /// Uploads that went before anything of them was done, since this was last asked.
  mutating func takeDisappeared() -> [WatchRecord.Disappearance] {
    disappeared.takeUntold()
  }

  /// Ends the wait for captures that may turn up elsewhere: there is no next scan.
  mutating func settleGone() {
    for gone in gone.takeExpired(nowSeconds: 0, all: true) { disappear(gone, { _ in nil }) }
  }

  /// New places of what the last watcher saw at places that are gone.
  private func previousMatches(
    _ met: Set<CaptureLocation>, _ new: [StagingSnapshot.Seen], _ look: Look
  ) -> [CaptureLocation: GoneCaptures.Match] {
    guard let previous else { return [:] }
    var index = IdentityIndex()
    var known: [CaptureLocation: StagingEntry] = [:]
    for (number, waiting) in previous.waiting.enumerated() {
      let location = CaptureLocation(waiting)
      // A place that exists has its own records.
      guard !met.contains(location), var entry = look.recorded[location] else { continue }
      // Before all that is new, in the order of then.
      entry.order = number - previous.waiting.count
      known[location] = entry
      index.add(entry.identity, at: location)
    }
    return index.matches(new.filter { look.recorded[$0.location] == nil })
      .compactMapValues { match in known[match.location].map { ($0, match.likeness) } }
  }

  /// What the last watcher saw and this one does not.
  private mutating func takePrevious(
    _ met: Set<CaptureLocation>, _ look: Look, _ folderID: (FilePath) -> FileID?,
    _ matches: [CaptureLocation: GoneCaptures.Match]
  ) {
    guard let before = previous else { return }
    previous = nil
    let found = Set(matches.values.map(\.entry.location))
    for waiting in before.waiting where waiting.gone != true {
      let location = CaptureLocation(waiting)
      guard !met.contains(location), !found.contains(location) else { continue }
      if waiting.family.isEmpty, folderID(location.path) != nil { continue }
      disappeared.add(waiting.id, location, time: look.nowText)
    }
  }

  /// What time alone changes.
  private mutating func advance(_ nowSeconds: Double) {
    for location in Array(entries.keys) {
      places[location]?.advance(nowSeconds: nowSeconds, settings)
    }
  }

  // MARK: Answers

  /// Takes in what was found out, unless the place has changed meanwhile.
  mutating func answer(_ answer: StagingEntry) {
    guard let entry = entries[answer.location], entry.stamp == answer.stamp, !entry.isRunning
    else { return }
    places[answer.location]?.take(answer)
  }

  // MARK: Contents

  /// Takes in whether the content of a capture is that of its results, unless it has changed meanwhile.
  mutating func verified(
    _ compared: StagingEntry, isSame: Bool, _ signature: OutputSignature?
  ) {
    let location = compared.location
    guard let entry = entries[location], case .done = entry.phase, entry.stamp == compared.stamp
    else { return }
    places[location]?.isUnverified = false
    if isSame {
      places[location]?.outputSignature = signature
    } else {
      places[location]?.phase = .queued
    }
  }

  // MARK: Results

  /// Results that are to be moved, since this was last asked.
  mutating func takeMoves() -> [(name: String, to: CaptureLocation)] {
    defer { moves = [] }
    return moves
  }

  /// Gives places their folders in the output.
  mutating func assign(_ targets: [CaptureLocation: CaptureTarget]) {
    places.assign(targets)
  }

  /// Lets a capture be given its folder in the output anew.
  mutating func forgetTarget(_ location: CaptureLocation) {
    guard let entry = entries[location], !entry.isRunning else { return }
    places.release(entry)
    places[location]?.target = nil
  }

  /// Lets everything be judged anew: the pipeline or the program is another one. Until it is, everything stands as
  /// it did.
  mutating func judgeAgain() {
    for location in entries.keys { places[location]?.judgeAgain() }
  }

  /// Lets a capture be judged anew whose output is not as it was.
  mutating func judgeAgain(_ location: CaptureLocation) {
    guard case .done = entries[location]?.phase else { return }
    places[location]?.isDoubted = true
  }

  // MARK: Marks

  /// Takes in what people decided; what is not named has no mark. Whether anything is otherwise than before.
  mutating func take(_ marks: [CaptureLocation: CaptureMark]) -> Bool {
    var hasChanged = false
    for (location, entry) in entries where entry.decision != marks[location] {
      places[location]?.decision = marks[location]
      hasChanged = true
    }
    return hasChanged
  }

  /// Takes in what a user decided about a capture just now.
  mutating func take(_ mark: CaptureMark, at location: CaptureLocation) {
    places[location]?.decision = mark
  }

  // MARK: Work

  mutating func start(_ location: CaptureLocation, nowSeconds: Double) {
    guard let stamp = entries[location]?.stamp else { return }
    places[location]?.phase = .running(stamp: stamp, sinceSeconds: nowSeconds)
  }

  /// How the work on a capture has ended.
  mutating func end(
    _ location: CaptureLocation, _ phase: StagingEntry.Phase, nowSeconds: Double, _ nowText: String
  ) {
    guard var entry = entries[location], case .running(let stamp, _) = entry.phase else { return }
    entry.phase = phase
    if case .failed(let trouble) = phase { entry.machineTries = trouble.machineTries }
    let hasChanged = stamp.content != entry.stamp.content || entry.isUploading
    if entry.isOutdated {
      entry.isOutdated = false
      entry.isDoubted = true
    }
    if stamp != entry.stamp { entry.isDoubted = true }
    places[location] = entry
    if entry.isMissing {
      leave(location, nowSeconds, nowText)
    } else if hasChanged {
      places[location]?.phase = .moving
      places[location]?.isFresh = true
      places[location]?.isDoubted = false
    }
  }

  mutating func noteOutput(_ location: CaptureLocation, _ signature: OutputSignature?) {
    places[location]?.outputSignature = signature
    // Something of it went while its end was told.
    if signature == nil { judgeAgain(location) }
  }

  /// Interrupted, or given back without having been started: no failure.
  mutating func giveBack(_ location: CaptureLocation, nowSeconds: Double, _ nowText: String) {
    guard let entry = entries[location], entry.isRunning else { return }
    places[location]?.phase = .queued
    if entry.isMissing { leave(location, nowSeconds, nowText) }
  }

  /// Notes that a capture's run is over and its place is gone; it may be at another one.
  private mutating func leave(
    _ location: CaptureLocation, _ nowSeconds: Double, _ nowText: String
  ) {
    guard let entry = entries[location] else { return }
    places.remove(location)
    guard let seen = entry.movedTo else {
      return gone.hold(entry, nowSeconds: nowSeconds, nowText: nowText)
    }
    take(
      seen, (entry, entry.isMovedForSure ? .certain : .folder),
      Look(nowSeconds: nowSeconds, nowText: nowText))
  }
}

extension CaptureLocation {
  init(_ waiting: WatchRecord.Waiting) {
    self.init(FilePath(text: waiting.path), stem: waiting.stem)
  }
}
