import Core
import Engine
import FoundationEssentials
import SystemPackage

/// What is kept of runs for months: `clean --keep-runs`.
///
/// Of a run that is older, `events.jsonl` and the logs are removed; `run.json` and `pipeline.yaml` stay, which
/// are small and tell what became of every capture. Never of a run that something refers to: one that goes
/// on, one that a triage record names, and the last one that worked on a capture which is not done or has a
/// failed stage.
///
/// Only files that a run writes are touched, in folders that have the name of a run; no link is followed.
public enum RunRetention {
  /// What would be removed, by age: one item for a run.
  public static func find(
    root: FilePath, olderThanNanoseconds age: Int64, clock: RunClock = .system
  ) throws(FileError) -> [Removable] {
    guard let runs = try HeldFolder.following(root).folder(OutputNames.runs) else { return [] }
    let candidates = try candidates(runs, age: age, now: clock.fileNanoseconds())
    // The usual case costs a look at each run and reads nothing.
    if candidates.isEmpty { return [] }
    let referred = try RunReferences(root: root).among(Set(candidates.map(\.id.text)), in: runs)
    var found: [Removable] = []
    for run in candidates where !referred.contains(run.id.text) {
      let size = try run.journalSize()
      // A folder without files of the run has only files of others, which stay.
      guard size.files > 0 else { continue }
      found.append(.run(run.held.path, size))
    }
    return found
  }

  /// Removes it, and returns what was removed.
  @discardableResult
  public static func perform(
    root: FilePath, olderThanNanoseconds age: Int64, clock: RunClock = .system
  ) throws(FileError) -> [Removable] {
    let found = try find(root: root, olderThanNanoseconds: age, clock: clock)
    guard !found.isEmpty, let runs = try HeldFolder.following(root).folder(OutputNames.runs) else {
      return []
    }
    for item in found {
      guard let name = item.path.lastComponent?.string, let run = RunFolder(name, in: runs) else {
        continue
      }
      try run.removeJournal()
      runs.removeIfEmpty(name)
    }
    return found
  }

  /// Runs with something to remove that are old enough and do not go on.
  private static func candidates(
    _ runs: HeldFolder, age: Int64, now: Int64
  ) throws(FileError) -> [RunFolder] {
    var found: [RunFolder] = []
    for name in try runs.names() {
      guard let run = RunFolder(name, in: runs), run.hasJournal else { continue }
      let (old, overflow) = now.subtractingReportingOverflow(run.youngestNanoseconds)
      guard !overflow, old > age, !run.mayGoOn(secondsSinceChange: old / 1_000_000_000) else {
        continue
      }
      found.append(run)
    }
    return found
  }
}

/// Which runs something in an output folder refers to.
struct RunReferences {
  /// Named by notes of failed attempts.
  private var named: Set<String> = []
  /// By name of the output folder; whether a stage of it failed or it is under triage.
  private var troubled: [String: Bool] = [:]

  /// Cost: a look at every capture.
  init(root: FilePath) throws(FileError) {
    for layout in try OutputCatalog(root)?.layouts ?? [] {
      let triage = Failure(triageOf: layout)
      if let run = triage?.run { named.insert(run) }
      troubled[layout.name] = triage != nil || Self.mayHaveFailed(layout)
    }
  }

  /// Whether anything is noted as failed, or that cannot be found out.
  private static func mayHaveFailed(_ layout: OutputLayout) -> Bool {
    do throws(FileError) {
      return try !FileSystem.names(in: layout.failedRoot).isEmpty
    } catch {
      return error.kind != .notFound
    }
  }

  /// The names among `candidates` that are referred to.
  ///
  /// Cost: reads `run.json` of every run, newest first; of killed ones the events as well.
  func among(_ candidates: Set<String>, in runs: HeldFolder) throws(FileError) -> Set<String> {
    var referred = named.intersection(candidates)
    /// Captures whose last run was found.
    var seen: Set<String> = []
    // Ids sort by time.
    for name in try runs.names().reversed() {
      guard let run = RunFolder(name, in: runs) else { continue }
      for (capture, isDone) in try run.captures() where seen.insert(capture).inserted {
        // A capture without folder has nothing left that could refer to the run.
        guard let isTroubled = troubled[capture], candidates.contains(name) else { continue }
        if !isDone || isTroubled { referred.insert(name) }
      }
    }
    return referred
  }
}

/// The folder of a run, as far as cleaning has to know it.
struct RunFolder {
  let id: RunID
  let held: HeldFolder

  /// Fails if the name is not that of a run's folder: another name, a link, a file.
  init?(_ name: String, in runs: HeldFolder) {
    guard let id = RunID(name), let held = try? runs.folder(name) else {
      return nil
    }
    self.id = id
    self.held = held
  }

  private func entry(_ name: String, _ kind: FileStatus.Kind) -> FileStatus? {
    (try? held.entry(name)).flatMap { $0.kind == kind ? $0 : nil }
  }

  /// Whether there is something to remove.
  var hasJournal: Bool {
    entry(OutputNames.events, .file) != nil || entry(OutputNames.logs, .folder) != nil
  }

  /// When it was made or last written to, whichever is later. A file that was copied counts as new.
  var youngestNanoseconds: Int64 {
    let files = [OutputNames.events, OutputNames.run].compactMap { entry($0, .file) }
    let times = (files + [entry(OutputNames.logs, .folder)].compactMap { $0 }).map(
      \.modifiedNanoseconds)
    return (times + [id.madeNanoseconds ?? Int64.max]).max() ?? Int64.max
  }

  private var readRecord: RunFile? {
    (try? held.contents(of: OutputNames.run)).flatMap { try? RunFile($0) }
  }

  /// Whether its process may still be at it.
  func mayGoOn(secondsSinceChange seconds: Int64) -> Bool {
    if readRecord?.finished != nil { return false }
    return id.mayGoOn(secondsSinceChange: seconds)
  }

  /// The captures that it worked on, and whether each was done by it. Of a run that was killed, what its
  /// events and the names of its logs tell. Throws when those cannot be listed.
  func captures() throws(FileError) -> [String: Bool] {
    let record = readRecord
    var captures: [String: Bool] = [:]
    if record?.finished == nil {
      for name in try held.folder(OutputNames.logs)?.names() ?? [] { captures[name] = false }
      readEvents { captures[$0] = $1 }
    }
    // A skipped capture was not worked on. Of several reports the last one counts.
    for capture in record?.captures ?? [] where capture.outcome != .skipped {
      captures[capture.id] = capture.hasSucceeded
    }
    return captures
  }

  private func readEvents(_ body: (String, Bool) -> Void) {
    guard let file = try? held.openFile(OutputNames.events) else { return }
    defer { try? file.close() }
    RunEvent.read(file, of: [.captureStarted, .captureFinished]) { event in
      guard let capture = event.capture else { return }
      if event.kind == .captureStarted {
        body(capture, false)
      } else if event.message != RunOutcome.skipped.rawValue {
        let outcome = event.message.flatMap(RunOutcome.init(rawValue:))
        body(capture, outcome?.isDone == true || outcome == .notPossible)
      }
    }
  }

  /// Files that the run has written and that may go; the events last, so that a kill in between leaves
  /// a run that is found again.
  private func journalFiles() throws(FileError) -> [(
    folder: HeldFolder, name: String, bytes: Int64
  )] {
    var files: [(HeldFolder, String, Int64)] = []
    if let logs = try? held.folder(OutputNames.logs) {
      for capture in try logs.names() {
        guard let folder = try? logs.folder(capture) else { continue }
        for name in try folder.names() where name.hasSuffix(".log") {
          guard let found = try folder.entry(name), found.kind == .file else { continue }
          files.append((folder, name, found.bytes))
        }
      }
    }
    if let cluster = try? held.folder(OutputNames.cluster) {
      try gather(cluster, levels: 2, &files)
    }
    if let events = entry(OutputNames.events, .file) {
      files.append((held, OutputNames.events, events.bytes))
    }
    return files
  }

  /// What a run on a cluster writes, in its folder and those below it.
  private func gather(
    _ folder: HeldFolder, levels: Int, _ files: inout [(HeldFolder, String, Int64)]
  ) throws(FileError) {
    let plain: Set<String> = ["nonce", "probe", "supervisor", "closed"]
    for name in try folder.names() {
      guard let found = try folder.entry(name) else { continue }
      let isOurs =
        [".json", ".jsonl", ".log"].contains(where: name.hasSuffix) || plain.contains(name)
      if found.kind == .file, isOurs { files.append((folder, name, found.bytes)) }
      if found.kind == .folder, levels > 0, let inner = try? folder.folder(name) {
        try gather(inner, levels: levels - 1, &files)
      }
    }
  }

  private func removeEmpty(_ folder: HeldFolder, levels: Int) throws(FileError) {
    for name in try folder.names() {
      if levels > 0, let inner = try? folder.folder(name) {
        try removeEmpty(inner, levels: levels - 1)
      }
      folder.removeIfEmpty(name)
    }
  }

  func journalSize() throws(FileError) -> FolderSize {
    let files = try journalFiles()
    return FolderSize(bytes: files.map(\.bytes).reduce(0, +), files: files.count)
  }

  /// Removes events and logs, and the folders that are empty then.
  func removeJournal() throws(FileError) {
    for file in try journalFiles() { try file.folder.remove(file.name) }
    if let cluster = try? held.folder(OutputNames.cluster) {
      try removeEmpty(cluster, levels: 1)
      held.removeIfEmpty(OutputNames.cluster)
    }
    guard let logs = try? held.folder(OutputNames.logs) else { return }
    for name in try logs.names() { logs.removeIfEmpty(name) }
    held.removeIfEmpty(OutputNames.logs)
  }
}
