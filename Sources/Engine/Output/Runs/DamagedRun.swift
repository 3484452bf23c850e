import Core
import SystemPackage

/// A run whose `run.json` is there and cannot be understood: cut, overwritten, or written by a build with other
/// ideas of it.
public struct DamagedRun: Error, Hashable, CustomStringConvertible {
  /// Path of the run's `run.json`.
  public let file: FilePath
  /// Whether `events.jsonl` is beside it.
  let hasEvents: Bool
}

extension DamagedRun {
  /// `nil` where the file is absent or understood, and for what is no run of ours. Cost: one `run.json`.
  init?(_ run: String, in root: FilePath) {
    guard RunID(run) != nil,
      let folder = HeldFolder(root)?.below(OutputNames.runs)?.below(run),
      folder.stamp(of: OutputNames.run) != nil, RunFile(run, in: root) == nil
    else { return nil }
    file = OutputLayout.run(run, in: root).appending(OutputNames.run)
    hasEvents = folder.stamp(of: OutputNames.events) != nil
  }

  /// The damaged runs of an output, oldest first.
  ///
  /// - Parameter known: its runs as they were read. The file of one that is known to have ended is understood.
  ///
  /// Cost: `run.json` of every run that is not known to have ended.
  public static func all(
    in root: FilePath, known: [RunEntry]
  ) throws(FileError) -> [DamagedRun] {
    let whole = Set(known.lazy.filter { $0.finished != nil }.map(\.id))
    return try RunReader.ids(in: root).filter { !whole.contains($0) }
      .compactMap { DamagedRun($0, in: root) }
  }

  /// The damaged runs that are newer than every run whose file is understood, oldest first. Cost: their files and one
  /// more.
  public static func newest(in root: FilePath) throws(FileError) -> [DamagedRun] {
    var found: [DamagedRun] = []
    for id in try RunReader.ids(in: root).reversed() {
      if let damaged = DamagedRun(id, in: root) {
        found.append(damaged)
      } else if RunFile(id, in: root) != nil {
        break
      }
    }
    return found.reversed()
  }

  /// What is not known because of it, and what to do.
  public var note: String {
    "\(file.shown.onOneLine) is damaged: "
      + (hasEvents
        ? "of this run only its events are known, not its pipeline, its host and its messages"
        : "nothing of this run is known")
      + "; restore the file, or remove the folder of the run, which holds no results"
  }

  /// One line for each of `damaged`, at most five of them, the newest, and how many more there are.
  public static func notes(_ damaged: [DamagedRun]) -> [String] {
    let most = 5
    let rest = damaged.count - most
    return damaged.suffix(most).map(\.note)
      + (rest > 0 ? ["\(rest) older files run.json are damaged, too"] : [])
  }

  /// For those who want to go on with the run.
  public var description: String {
    "\(file.shown.onOneLine) is missing or damaged: the run cannot be continued; restore the file, or cancel "
      + "its jobs on the cluster, remove its folder and run again: what is published is kept"
  }
}
