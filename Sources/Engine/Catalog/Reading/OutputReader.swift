import Captures
import Core
import Synchronization
import SystemPackage

/// Looks at an output folder: with the help of the catalog where there is one, without it all the same.
public struct OutputReader: Sendable {
  private let examiner: OutputExaminer
  /// Digest of everything besides its files that decides what is read of a capture; `nil`: the catalog is of no use,
  /// because something else is asked than what it holds.
  private let signature: String?
  /// Up to this many published files of an output, or of one capture, all of them are looked at for every answer; beyond
  /// it files that were changed in place, without any name or record around them changing, show in `run` only.
  private static let mostFilesLookedAt = 20_000
  /// How many published files most captures have at least, for an output of which nothing is noted.
  private static let fewestFiles = 4

  /// - Parameters:
  ///   - signature: of the program and all that it was built with; `nil`: without catalog.
  public init(_ examiner: OutputExaminer, signature: String?) {
    self.examiner = examiner
    self.signature = signature
  }

  /// The output as it is now. What was learned of all captures is noted in the catalog; of a folder in which
  /// there is no capture's output nothing is.
  ///
  /// - Parameters:
  ///   - capture: the one that is looked at, by the name of its folder; `nil`: all.
  ///   - filter: captures that the catalog knows and that it turns down by names, family, device or scene are left out:
  ///     nothing else of them is looked at, and nothing is said.
  public func view(
    of root: FilePath, capture id: String? = nil, filter: StatusFilter? = nil
  ) throws -> OutputSnapshot {
    let filter = filter.flatMap { $0.leavesOut ? $0 : nil }
    let nowNanoseconds = FileStamp.nowNanoseconds()
    EnclosedPaths.enclose(root, links: .none)
    let known = signature.flatMap { Catalog(of: root, for: $0) }
    let held = HeldFolder(root)
    let (captures, leftOut, runs) = try everything(
      root, held, id, known, nowNanoseconds, filter)
    if let signature, id == nil, filter == nil, !captures.isEmpty {
      let isNew =
        known == nil || captures.contains(where: \.isNew) || runs.contains(where: \.isNew)
        || known?.captures.count != captures.count || known?.runs.count != runs.count
      if isNew { Self.catalog(captures, runs).write(to: root, signature: signature) }
    }
    let locked = try lockedCaptures(
      captures.filter { !$0.isProven }.map(\.entry.id), root)
    var record = WatchRecord(ofOutput: root)
    if let id { record?.waiting.removeAll { $0.id != id } }
    var snapshot = OutputSnapshot(
      root: root, entries: captures.map(\.entry), locked: locked, runs: runs.map(\.entry),
      record: record, isWatcherAlive: WatchRecord.isAlive(inOutput: root), now: nowNanoseconds)
    snapshot.leftOut = leftOut
    // Folders that are no capture have nothing to do with one.
    if id != nil { snapshot.unrecognized = [] }
    if id == nil { snapshot.takeUnmade() }
    let unmarked = Set(captures.lazy.filter(\.isUnmarked).map(\.entry.id))
    try snapshot.take(MarkBook(ofOutput: root), unmarked: unmarked, scope: id)
    return snapshot
  }

  /// Notes in the catalog what is to be read of captures that a run has worked on, and of that run, so that the first
  /// answer after it finds them there. Rows of other captures stay as they are. Cost: as a first look at these
  /// captures. Does nothing where the catalog is of no use, or the output cannot be written.
  ///
  /// - Parameters:
  ///   - ids: names of folders.
  ///   - run: nothing is noted of others.
  ///   - progress: how many captures are read, and how many there are.
  public func note(
    _ ids: [String], run: String, of root: FilePath,
    progress: @escaping @Sendable (_ done: Int, _ all: Int) -> Void = { _, _ in }
  ) throws {
    guard let signature else { return }
    let now = FileStamp.nowNanoseconds()
    EnclosedPaths.enclose(root, links: .none)
    var catalog = Catalog(of: root, for: signature) ?? Catalog()
    let rows = catalog.captures
    let looksAtOutputs = catalog.outputs <= Self.mostFilesLookedAt
    let held = HeldFolder(root)
    let done = Atomic(0)
    let found = try concurrentMap(ids, share: 32) { id in
      defer { progress(done.add(1, ordering: .relaxed).newValue, ids.count) }
      let layout = OutputLayout(root: root, name: id)
      return try read(
        layout, rows[id], held.map(StampFolders.init), looksAtOutputs: looksAtOutputs, now)?.row
    }
    for (id, row) in zip(ids, found) { catalog.captures[id] = row }
    for run in try runs(root, catalog, only: run) { catalog.runs[run.entry.id] = run.row }
    if catalog.outputs > Self.mostFilesLookedAt { catalog.removeProofsOfOutputs() }
    catalog.write(to: root, signature: signature)
  }

  private static func catalog(_ captures: [FoundCapture], _ runs: [FoundRun]) -> Catalog {
    var catalog = Catalog()
    for found in captures { catalog.captures[found.entry.id] = found.row }
    for found in runs { catalog.runs[found.entry.id] = found.row }
    if catalog.outputs > mostFilesLookedAt { catalog.removeProofsOfOutputs() }
    return catalog
  }

  // MARK: Captures

  /// By reference: a row has dozens of texts and lists, and thousands of rows go through several lists.
  private final class FoundCapture: Sendable {
    let entry: CaptureRow
    let row: Catalog.Row
    /// Whether the row differs from that of the catalog.
    let isNew: Bool
    /// Whether the entry is proven to be as it was when no run worked on the capture.
    let isProven: Bool
    /// Whether the capture is proven to bear no mark in its own folder.
    let isUnmarked: Bool

    init(
      entry: CaptureRow, row: Catalog.Row, isNew: Bool, isProven: Bool = false,
      isUnmarked: Bool = false
    ) {
      self.entry = entry
      self.row = row
      self.isNew = isNew
      self.isProven = isProven
      self.isUnmarked = isUnmarked
    }
  }

  /// A part of what is looked at on all cores.
  private enum Part {
    case runs([FoundRun])
    case captures([FoundCapture], leftOut: Int)
  }

  private func everything(
    _ root: FilePath, _ held: HeldFolder?, _ id: String?, _ catalog: Catalog?, _ now: Int64,
    _ filter: StatusFilter?
  ) throws -> (captures: [FoundCapture], leftOut: Int, runs: [FoundRun]) {
    let layouts =
      try id.map { [OutputLayout(root: root, name: $0)] } ?? OutputCatalog.candidates(in: root)
    let rows = catalog?.captures ?? [:]
    // One capture alone is looked at file by file.
    let looksAtOutputs =
      id != nil
      || (catalog?.outputs ?? layouts.count * Self.fewestFiles) <= Self.mostFilesLookedAt
    // Captures are handed out in groups, because a handover costs as much as one capture.
    let share = 32
    let shares = (layouts.count + share - 1) / share
    // One long journal takes as long as hundreds of captures: it is begun first.
    let parts = try concurrentMap(count: shares + 1) { number -> Part in
      if number == 0 { return .runs(try self.runs(root, catalog)) }
      let first = (number - 1) * share
      let held = held.map(StampFolders.init)
      var leftOut = 0
      let found = try layouts[first..<min(layouts.count, first + share)].compactMap {
        layout -> FoundCapture? in
        let row = rows[layout.name]
        if let filter, let row, isLeftOut(row, filter, held) {
          leftOut += 1
          return nil
        }
        if let row, let found = known(row, layout, held, looksAtOutputs: looksAtOutputs, now) {
          return found
        }
        return try read(layout, row, held, looksAtOutputs: looksAtOutputs, now)
      }
      return .captures(found, leftOut: leftOut)
    }
    var (captures, leftOut, runs): ([FoundCapture], Int, [FoundRun]) = ([], 0, [])
    captures.reserveCapacity(layouts.count)
    for part in parts {
      switch part {
      case .captures(let found, let count):
        captures += found
        leftOut += count
      case .runs(let found): runs += found
      }
    }
    return (captures, leftOut, runs)
  }

  /// Whether a capture is turned down by what is known of it.
  private func isLeftOut(
    _ row: Catalog.Row, _ filter: StatusFilter, _ held: StampFolders?
  ) -> Bool {
    guard let head = row.head else { return false }
    if !filter.isOfNames(head) { return true }
    // Who names captures is told of names that nothing has, whatever else is asked for.
    guard filter.names == NameChoice(), !filter.isOfDocument(head), let held,
      let proof = row.stamps?.proof
    else { return false }
    return proof.document.areCurrent(in: held)
  }

  /// What the catalog has, if it would be read the same again. Where it was copied, restored or moved since,
  /// its contents are compared, and the new times are noted.
  private func known(
    _ row: Catalog.Row, _ layout: OutputLayout, _ held: StampFolders?, looksAtOutputs: Bool,
    _ now: Int64
  ) -> FoundCapture? {
    guard let stamps = row.stamps, let entry = row.entry else { return nil }
    if isProven(stamps, entry, layout, held, looksAtOutputs: looksAtOutputs) {
      return FoundCapture(
        entry: entry, row: row, isNew: false, isProven: true,
        isUnmarked: stamps.proof?.isMarked == false)
    }
    let open = OpenOutput(layout)
    let sources = EntrySources(open, of: entry)
    if sources.areUntouched(since: stamps, looksAtOutputs: looksAtOutputs) {
      var moved = stamps
      moved.proof = proof(sources, layout, looksAtOutputs: looksAtOutputs, now)
      return FoundCapture(
        entry: entry, row: moved == stamps ? row : row.with(moved), isNew: moved != stamps)
    }
    guard let content = stamps.content, sources.content(readsAll: true) == content,
      OutputCatalog.isOutput(OutputFolderState(open), layout)
    else { return nil }
    // The stamps are taken after the look inside, and only of what has not changed since `now`.
    guard var moved = sources.settledStamps(content: content, nowNanoseconds: now) else {
      return FoundCapture(entry: entry, row: row, isNew: false)
    }
    moved.proof = proof(sources, layout, looksAtOutputs: looksAtOutputs, now)
    return FoundCapture(entry: entry, row: row.with(moved), isNew: true)
  }

  private func isProven(
    _ stamps: EntryStamps, _ entry: CaptureRow, _ layout: OutputLayout, _ held: StampFolders?,
    looksAtOutputs: Bool
  ) -> Bool {
    guard let held, let proof = stamps.proof, proof.records.areCurrent(in: held) else {
      return false
    }
    guard looksAtOutputs else { return true }
    return proof.outputs?.areCurrent(in: held)
      ?? EntrySources(OpenOutput(layout), of: entry).outputsAreUntouched(since: stamps)
  }

  /// `nil` for a folder that is not the output of a capture.
  ///
  /// If nothing was touched since the stamps of `before` were taken, these stay: taking them costs as much as reading all
  /// else.
  private func read(
    _ layout: OutputLayout, _ before: Catalog.Row?, _ held: StampFolders?, looksAtOutputs: Bool,
    _ now: Int64
  ) throws -> FoundCapture? {
    let open = OpenOutput(layout)
    let state = OutputFolderState(open)
    guard OutputCatalog.isOutput(state, layout) else { return nil }
    let (entry, mayBeRemembered, seen) = read(open, state)
    let outputs = entry.timings.reduce(0) { $0 + $1.outputs }
    var stamps: EntryStamps?
    if signature != nil, mayBeRemembered {
      let sources = EntrySources(open, of: entry, seen: seen)
      // The stamps are taken afterwards, and only of what has not changed since `now`.
      if let before = before?.stamps, before.places == sources.places,
        isProven(before, entry, layout, held, looksAtOutputs: true)
      {
        stamps = before
      } else {
        stamps = sources.settledStamps(
          looksAtOutputs: outputs <= Self.mostFilesLookedAt, nowNanoseconds: now)
        stamps?.proof = proof(sources, layout, looksAtOutputs: looksAtOutputs, now)
      }
    }
    let row = Catalog.Row(stamps: stamps, outputs: outputs, bytes: try entry.cacheBytes())
    return FoundCapture(entry: entry, row: row, isNew: before != row)
  }

  /// Not of a capture that a run works on: the proof is that of one that none does.
  private func proof(
    _ sources: EntrySources, _ layout: OutputLayout, looksAtOutputs: Bool, _ now: Int64
  ) -> UntouchedProof? {
    guard let proof = sources.proof(nowNanoseconds: now, looksAtOutputs: looksAtOutputs),
      !FileLock.isHeld(at: layout.lock)
    else {
      return nil
    }
    return proof
  }

  private func lockedCaptures(_ ids: [String], _ root: FilePath) throws -> Set<String> {
    let areLocked = try concurrentMap(ids, share: 128) {
      FileLock.isHeld(at: OutputLayout(root: root, name: $0).lock)
    }
    return Set(zip(ids, areLocked).filter(\.1).map(\.0))
  }

  // MARK: Runs

  private struct FoundRun {
    var entry: RunEntry
    var row: Catalog.RunRow
    /// Whether the row differs from that of the catalog.
    var isNew: Bool
  }

  /// - Parameter only: the id of one run; `nil`: all.
  private func runs(
    _ root: FilePath, _ catalog: Catalog?, only: String? = nil
  ) throws -> [FoundRun] {
    let ids = try only.map { [$0] } ?? RunEntry.ids(in: root)
    return try concurrentMap(count: ids.count) { index -> FoundRun? in
      let id = ids[index]
      let stamp = Catalog.RunRow.stamp(id, in: root)
      if var run = catalog?.runs[id], let entry = run.entry {
        if run.stamp == stamp { return FoundRun(entry: entry, row: run, isNew: false) }
        if let content = run.content, Catalog.RunRow.content(id, in: root) == content {
          run.stamp = stamp
          return FoundRun(entry: entry, row: run, isNew: true)
        }
      }
      // The digest is of what is there before it is read, or of nothing that is ever there.
      let content = Catalog.RunRow.content(id, in: root)
      guard let entry = RunEntry(id, in: root) else { return nil }
      let row = Catalog.RunRow(
        stamp: stamp, content: entry.finished == nil ? nil : content,
        bytes: try entry.cacheBytes()[...])
      return FoundRun(entry: entry, row: row, isNew: true)
    }.compactMap(\.self)
      // Ids of runs that began within one second are in no order.
      .sorted { ($0.entry.started, $0.entry.id) < ($1.entry.started, $1.entry.id) }
  }
}

extension OutputReader {
  /// What is known of a capture from its output folder, without a lock and without writing. Cost: a tenth of a
  /// millisecond where notes are current, else a look into the capture.
  ///
  /// - Parameter state: of the folder.
  /// - Returns: the entry; whether it can be remembered, which it cannot when files count that lie elsewhere; and what was
  ///   found of the files of the capture.
  private func read(
    _ open: OpenOutput, _ state: OutputFolderState
  ) -> (entry: CaptureRow, mayBeRemembered: Bool, seen: EntrySources.Seen?) {
    let layout = open.layout
    let examined = examiner.examine(open, comparesTimesOnly: true)
    let place = RecordedLocation(state)
    let document = RecordedDocument(open)
    let isGone = examined.recognition == nil && place?.isGone == true
    var entry = CaptureRow(
      id: layout.name, name: place?.id ?? document?.id ?? layout.name,
      family: (examined.family ?? place?.family)?.rawValue ?? document?.family,
      path: examined.path ?? place.map { PathText.shown($0.folder) } ?? document?.path,
      folder: examined.recognition?.path.text ?? place?.folder,
      stem: examined.recognition.map(\.stem) ?? place?.stem, page: "\(layout.name)/report.html",
      pipeline: examined.pipeline.name, inputGone: examined.isInputGone, gone: isGone,
      lockedBy: examined.lockedBy, notes: examined.notes, stages: examined.states,
      warnings: examined.warnings, shortfalls: examined.shortfalls,
      missing: examined.missing, timings: examined.artifacts.map(Self.timing),
      failures: examined.failures, triage: Failure(triageOf: open), quality: examined.quality)
    if case .owned(let owner) = state { entry.formerNames = owner.formerNames ?? [] }
    entry.isAskedAnew = examined.isAskedAnew
    entry.settings = (examined.cache?.requests.last?.settings ?? [])
      .filter { !$0.value.contains("sha256:") }
      .map { "\($0.stage).\($0.parameter)=\($0.value)" }
    if let inputs = examined.cache?.inputs {
      let files = inputs.entries.filter { !$0.name.hasSuffix(UploadManifest.fileName) }
      entry.received = CaptureRow.Received(
        files: files.count, bytes: files.reduce(0) { $0 &+ max(0, $1.stamp.bytes) },
        arrivedNanoseconds: files.map(\.stamp.changedNanoseconds).max(),
        manifest: isGone ? nil : UploadCounts(in: FilePath(text: inputs.folder)))
      if entry.received?.manifest != nil {
        entry.received?.altered = UploadRecord.altered(in: FilePath(text: inputs.folder)) {
          path, stamp in
          examined.digests[path].flatMap { $0.stamp == stamp ? $0.sha256 : nil }
        }
      }
    }
    if let document {
      entry.deviceInfo = document.device ?? DeviceInfo()
      entry.sceneInfo = document.scene ?? SceneInfo()
      entry.user = document.user
      entry.recordedAt = document.recordedAt
      entry.frames = document.frames
    }
    return (
      entry,
      !examined.readsOtherFiles && examined.lockedBy == nil
        && (examined.recognition != nil || isGone),
      isGone ? nil : examined.seenInputs(entry.received?.manifest)
    )
  }

  private static func timing(_ published: PublishedArtifact) -> CaptureRow.Timing {
    let record = published.record
    // Files of a removed intermediate are not in the output.
    let outputs = published.state == .removed ? [] : record.outputs
    return CaptureRow.Timing(
      stage: record.stage, seconds: record.seconds, cpuSeconds: record.cpuSeconds,
      frames: record.frames, bytes: outputs.reduce(0) { $0 &+ $1.bytes },
      outputs: outputs.count, finished: record.finished)
  }
}
