import Captures
import Output
import Pipeline
import Storage
import SystemPackage

/// A capture that need not be opened to be planned: its files are those of the last time.
public struct KnownCapture: Sendable {
  public var summary: CaptureSummary
  /// Those of opening.
  public var warnings: [CaptureWarning]
  /// The capture's.
  let folder: FilePath
  let shelf: ArtifactStore
  let digests: DigestCache
  /// `capture.json` as the last run left it.
  let document: FileStamp?
  /// Of the pipeline that is noted.
  let pipeline: Digest?

  /// What the last run knew, if nothing has changed since: same reader, same files with the same stamps,
  /// none added. `nil` otherwise. Writes nothing; damaged notes count as none.
  ///
  /// Cost: one system call per input file and a few more.
  public static func ifCurrent(
    _ target: CaptureTarget, registry: CaptureRegistry
  ) -> KnownCapture? {
    ifCurrent(target.recognition, target.layout, registry: registry, pool: ParameterPool())
  }

  /// - Parameter rereads: whether files that had changed just before they were noted count as the same when
  ///   they bear the same stamps: their digests, which are not noted, then come from reading them again.
  static func ifCurrent(
    _ recognition: Recognition, _ layout: OutputLayout, registry: CaptureRegistry,
    pool: ParameterPool, rereads: Bool = false
  ) -> KnownCapture? {
    guard let notes = layout.openNotes(),
      let memoStamp = notes.stamp(of: layout.memoName)
    else { return nil }
    let index = RecordIndex(in: notes, layout, memo: memoStamp, pool: pool)
    let core: RecordIndex.Core
    if let index {
      core = index.core
    } else {
      guard let memo = CaptureCache(of: layout) else { return nil }
      core = RecordIndex.Core(
        summary: memo.summary, warnings: memo.warnings, inputs: memo.inputs, document: nil)
    }
    guard core.summary.family == recognition.family,
      core.inputs.folder == recognition.folder.text, core.inputs.stem == recognition.stem,
      // Notes of a build that did not look for these do not tell everything.
      core.summary.missingFiles != nil, core.summary.colorIsVideo != nil,
      core.summary.lacking != nil,
      core.summary.readerVersion == registry.readerVersion(of: recognition.family),
      rereads ? core.inputs.looksCurrent() : core.inputs.isCurrent()
    else { return nil }
    return KnownCapture(
      summary: core.summary, warnings: core.warnings, folder: recognition.folder,
      shelf: ArtifactStore(layout, index: index),
      digests: DigestCache(
        layout.digestCache, capture: recognition.folder, known: index?.digests ?? [:],
        unchanged: core.inputs.stamps),
      document: core.document, pipeline: core.pipeline)
  }

  /// The capture in `folder`, when its output in `root` tells that it is the only one there and nothing
  /// has changed since it was recognized by the same readers.
  static func onlyCapture(
    of folder: FilePath, in root: FilePath, signature: String
  ) -> Recognition? {
    guard let name = folder.name else { return nil }
    let layout = OutputLayout(root: root, name: OutputLayout.folderName(forID: name))
    guard let notes = layout.openNotes(),
      let memo = notes.stamp(of: layout.memoName),
      let core = RecordIndex.core(in: notes, layout, memo: memo),
      core.onlyCaptureBy == signature, core.inputs.folder == folder.text, core.inputs.stem == nil,
      core.summary.id == name, core.inputs.isCurrent()
    else { return nil }
    return Recognition(
      family: core.summary.family, certainty: .certain, folder: folder, id: core.summary.id,
      reason: "known from an earlier run")
  }

  func collector(verify: Bool) -> FactsCollector {
    FactsCollector(summary: summary, folder: folder, shelf: shelf, digests: digests, verify: verify)
  }
}
