import Engine
import Core

/// Tells results of a capture from changed ones: it differs once a run has published something, or once a user has
/// removed, replaced or edited the folder of a stage. Valid in this process only.
///
/// Made from the stamps of the notes and of the folder of each stage. A file that is overwritten in place is not seen.
struct OutputSignature: Hashable, Sendable {
  private let hash: Int

  /// After a run; `nil` if something that it reports to be there is not any more: a stage, or a file of one. What goes
  /// after that makes another signature.
  ///
  /// Intermediates that a run has removed left a record elsewhere. Cost: a system call for each published file.
  init?(of layout: OutputLayout, holding report: CaptureReport) {
    self.init(of: layout)
    let store = ArtifactStore(layout)
    for stage in report.stages where stage.outcome == .ran || stage.outcome == .upToDate {
      guard
        FileSystem.exists(layout.record(stage.stage))
          || FileSystem.exists(layout.removedRecord(stage.stage))
      else { return nil }
      switch store.published(stage.stage, verify: false)?.state {
      case .missing, .altered: return nil
      case .intact, .removed, .unsound, nil: continue
      }
    }
  }

  /// `nil` if the capture has no folder in the output that can be listed. Cost: a listing, and a system call for each stage.
  init?(of layout: OutputLayout) {
    guard let folder = HeldFolder(layout.folder, followsLast: false),
      let entries = try? folder.list()
    else { return nil }
    var hasher = Hasher()
    hasher.combine(folder.below(OutputNames.notes)?.stamp(of: layout.indexName))
    let stages = entries.filter { $0.kind == .folder && !$0.name.hasPrefix(".") }
    for name in stages.map(\.name).sorted() {
      hasher.combine(name)
      hasher.combine(folder.status(of: name)?.stamp)
    }
    hash = hasher.finalize()
  }
}
