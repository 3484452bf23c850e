import Engine
import Core
import SystemPackage

/// Which runs something in an output folder refers to.
struct RunReferences {
  /// Named by triage records.
  private var named: Set<String> = []
  /// By name of the output folder; whether a stage of it failed or it is under triage.
  private var troubled: [String: Bool] = [:]

  /// Cost: a look at every capture.
  init(root: FilePath) throws(FileError) {
    for layout in try OutputCatalog(root)?.layouts ?? [] {
      let triage = TriageRecord(of: layout)
      if let triage { named.insert(triage.run) }
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
