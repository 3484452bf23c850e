import Captures
import Night
import Parallel
import Pipeline
import Runner
import Storage
import SystemPackage

/// Looks at an output folder: with the help of the catalog where there is one, without it all the same.
public struct OutputReader: Sendable {
  private let reader: EntryReader
  /// Of everything that decides what is read of a capture besides its files; `nil`: the catalog is of no
  /// use, because something else is asked than what it holds.
  private let signature: String?
  /// Up to this many published files every answer is made from the files themselves; beyond it files that
  /// were changed in place, without any name or record around them changing, show in `run` only.
  private let mostFilesLookedAt: Int

  /// - Parameters:
  ///   - signature: of the program and all that it was built with; `nil`: without catalog.
  public init(
    _ examiner: OutputExaminer, signature: String?, mostFilesLookedAt: Int = 20_000
  ) {
    reader = EntryReader(examiner: examiner)
    self.signature = signature
    self.mostFilesLookedAt = mostFilesLookedAt
  }

  /// What to look at.
  public enum Scope: Sendable {
    case everything
    /// One capture, by the name of its folder.
    case capture(String)
  }

  /// The output as it is now.
  public func view(
    of root: FilePath, _ scope: Scope = .everything,
    nowNanoseconds: Int64 = FileStamp.nowNanoseconds()
  ) throws -> OutputSnapshot {
    EnclosedPaths.enclose(root, links: .none)
    let catalog = signature.flatMap { Catalog(readingFrom: root, signature: $0) }
    let (entries, changed, gone) = try entries(root, scope, catalog, nowNanoseconds)
    let (runs, newRuns) = runs(root, catalog, nowNanoseconds)
    let locked = try lockedCaptures(entries.map(\.id), root)
    var record = WatchRecord(ofOutput: root)
    if case .capture(let id) = scope { record?.waiting.removeAll { $0.id != id } }
    let view = OutputSnapshot(
      root: root, entries: entries, locked: locked, runs: runs, record: record,
      isWatcherAlive: WatchRecord.isAlive(inOutput: root), now: nowNanoseconds)
    if let signature, !changed.isEmpty || !gone.isEmpty || !newRuns.isEmpty || catalog == nil {
      Catalog.update(
        root, signature: signature,
        Catalog.Changes(
          entries: changed, gone: gone, runs: newRuns, standings: view.rows))
    }
    return view
  }

  /// Everything read from the files, and the catalog made anew; what it holds then. Throws where it cannot
  /// be written.
  public func rebuild(
    _ root: FilePath, progress: @escaping @Sendable (_ done: Int, _ all: Int) -> Void = { _, _ in }
  ) throws -> Catalog.Counts {
    EnclosedPaths.enclose(root, links: .none)
    let now = FileStamp.nowNanoseconds()
    let layouts = OutputCatalog.candidates(in: root)
    let counter = Counter(layouts.count, progress)
    let found = try concurrentMap(count: layouts.count) { index -> Catalog.Remembered? in
      defer { counter.add() }
      return try read(layouts[index], now)
    }
    let remembered = found.compactMap(\.self)
    let ids = RunReader.ids(in: root)
    let runs = try concurrentMap(count: ids.count) { index -> Catalog.RememberedRun? in
      RunReader.read(ids[index], in: root).map {
        Catalog.RememberedRun(entry: $0, stamp: RunStamp(ids[index], in: root))
      }
    }.compactMap(\.self)
    let view = OutputSnapshot(
      root: root, entries: remembered.map(\.entry), locked: [], runs: runs.map(\.entry),
      record: nil, isWatcherAlive: false, now: now)
    return try Catalog.rebuild(
      root, signature: signature ?? "",
      Catalog.Changes(entries: remembered, gone: [], runs: runs, standings: view.rows))
  }

  // MARK: Captures

  private func entries(
    _ root: FilePath, _ scope: Scope, _ catalog: Catalog?, _ now: Int64
  ) throws -> (all: [CaptureEntry], changed: [Catalog.Remembered], gone: [String]) {
    let layouts =
      switch scope {
      case .everything: OutputCatalog.candidates(in: root)
      case .capture(let id): [OutputLayout(root: root, name: id)]
      }
    var rows: [String: Catalog.Row] = [:]
    if case .everything = scope { rows = catalog?.rows() ?? [:] }
    let isBelieved = rows.values.reduce(0) { $0 &+ $1.outputs } > mostFilesLookedAt
    let known = rows
    // Not one by one: handing out work costs as much as a look.
    let share = 32
    let shares = (layouts.count + share - 1) / share
    let found = try concurrentMap(count: shares) { number -> [Look] in
      try layouts[number * share..<min(layouts.count, (number + 1) * share)].map { layout in
        if isBelieved, let row = known[layout.name], row.isCurrent(layout), let entry = row.entry {
          return .current(entry)
        }
        guard let read = try read(layout, now) else {
          return .nothing
        }
        let row = known[layout.name]
        let bytes = try EntryBytes.bytes(read.entry)
        return .read(
          read, isNew: row?.stamp != read.stamp || row?.digest != Digest(of: bytes).hex)
      }
    }.flatMap(\.self)
    var all: [CaptureEntry] = []
    var changed: [Catalog.Remembered] = []
    for look in found {
      switch look {
      case .nothing: break
      case .current(let entry): all.append(entry)
      case .read(let read, let isNew):
        all.append(read.entry)
        if isNew { changed.append(read) }
      }
    }
    let present = Set(all.map(\.id))
    return (all, changed, rows.keys.filter { !present.contains($0) })
  }

  private enum Look: Sendable {
    case nothing
    case current(CaptureEntry)
    case read(Catalog.Remembered, isNew: Bool)
  }

  /// `nil` for a folder that is not the output of a capture.
  private func read(_ layout: OutputLayout, _ now: Int64) throws -> Catalog.Remembered? {
    guard OutputCatalog.isOutput(layout) else { return nil }
    // The stamp is taken afterwards, and only of what has not changed since `now`.
    let found = try reader.read(layout)
    let stamp =
      found.mayBeRemembered
      ? EntryStamps.settledDigest(
        layout, folders: EntryStamps.folders(of: found.entry), folder: found.entry.folder,
        stem: found.entry.stem, now)
      : nil
    return Catalog.Remembered(entry: found.entry, stamp: stamp)
  }

  private func lockedCaptures(_ ids: [String], _ root: FilePath) throws -> Set<String> {
    let share = 128
    let found = try concurrentMap(count: (ids.count + share - 1) / share) { number in
      ids[number * share..<min(ids.count, (number + 1) * share)].filter {
        FileLock.isHeld(at: OutputLayout(root: root, name: $0).lock)
      }
    }
    return Set(found.flatMap(\.self))
  }

  // MARK: Runs

  private func runs(
    _ root: FilePath, _ catalog: Catalog?, _ now: Int64
  ) -> (all: [RunEntry], new: [Catalog.RememberedRun]) {
    let ids = RunReader.ids(in: root)
    let known = catalog?.runs() ?? [:]
    let found = try? concurrentMap(count: ids.count) { index -> (Catalog.RememberedRun, Bool)? in
      let id = ids[index]
      let stamp = RunStamp(id, in: root)
      if let run = known[id], run.stamp == stamp, let entry = run.entry {
        return (Catalog.RememberedRun(entry: entry, stamp: stamp), false)
      }
      return RunReader.read(id, in: root).map {
        (Catalog.RememberedRun(entry: $0, stamp: stamp), true)
      }
    }
    let all = (found ?? []).compactMap(\.self)
    return (all.map(\.0.entry), all.filter(\.1).map(\.0))
  }
}
