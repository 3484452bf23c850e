import Engine
import Core
import Synchronization
import SystemPackage

/// Entries about a capture in the journal of the last run that processed it.
struct RunExcerpt: Sendable {
  var id: String
  var program: ProgramIdentity?
  var pipeline: String?
  var started: String?
  var stages: [StageReport] = []

  /// The newest run with logs of the capture; a run that found everything up to date has none.
  /// Cost: one listing of the runs, a system call per run, and `run.json` once for all captures of
  /// a run.
  static func last(of layout: OutputLayout, ids: [String]) -> RunExcerpt? {
    guard let runs = HeldFolder(layout.root)?.below(OutputNames.runs) else { return nil }
    let names = ((try? runs.list()) ?? []).filter { $0.kind == .folder }.map(\.name).sorted(by: >)
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

  /// The part of a run's journal that pages need.
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

  /// A cache of the last journal: the capture pages of a night mostly come from few runs.
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
