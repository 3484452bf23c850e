import Output
import Pipeline
import Storage
import Synchronization
import SystemPackage

/// What the journal of the last run that worked on a capture says of it.
struct RunExcerpt: Sendable {
  var id: String
  var program: ProgramIdentity?
  var pipeline: String?
  var started: String?
  var stages: [StageReport] = []

  /// The newest run that keeps logs of the capture: one that found everything up to date keeps none and
  /// has nothing to tell. Cost: one listing of the runs, a look per run, and `run.json` once for all
  /// captures of a run.
  static func last(of layout: OutputLayout, ids: [String]) -> RunExcerpt? {
    guard let runs = HeldFolder(layout.root)?.below(OutputNames.runs) else { return nil }
    let names = runs.entries().filter { $0.kind == .folder }.map(\.name).sorted(by: >)
    for name in names.prefix(mostRuns) {
      guard runs.below(name)?.below(OutputNames.logs)?.below(layout.name) != nil else { continue }
      var excerpt = RunExcerpt(id: name)
      if let journal = journal(name, layout) {
        excerpt.program = journal.program
        excerpt.pipeline = journal.pipeline
        excerpt.started = journal.started
        excerpt.stages = ids.lazy.compactMap { journal.captures[$0] }.first ?? []
      }
      return excerpt
    }
    return nil
  }

  private static let mostRuns = 2000

  /// A run's journal as far as pages need it.
  private struct Journal: Sendable {
    var program: ProgramIdentity?
    var pipeline: String?
    var started: String?
    var captures: [String: [StageReport]] = [:]
  }

  private struct Known: Sendable {
    var path: FilePath
    var stamp: FileStamp
    var journal: Journal?
  }

  /// The one that was read last: the pages of a night are made one after another from few runs.
  private static let known = Mutex<Known?>(nil)

  private static func journal(_ run: String, _ layout: OutputLayout) -> Journal? {
    let path = OutputLayout.run(run, in: layout.root).appending(OutputNames.run)
    guard
      let stamp = HeldFolder(layout.root)?.below(OutputNames.runs)?.below(run)?
        .stamp(of: OutputNames.run)
    else { return nil }
    return known.withLock { known in
      if let known, known.path == path, known.stamp == stamp { return known.journal }
      let journal = RunFile(run, in: layout.root).map { file in
        Journal(
          program: file.program, pipeline: file.pipeline?.name, started: file.started,
          captures: Dictionary(
            (file.captures ?? []).map { ($0.id, $0.stages) }, uniquingKeysWith: { $1 }))
      }
      known = Known(path: path, stamp: stamp, journal: journal)
      return journal
    }
  }
}
