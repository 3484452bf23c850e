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
