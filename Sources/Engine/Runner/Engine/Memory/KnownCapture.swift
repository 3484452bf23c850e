import Captures
import Core
import SystemPackage

/// A capture that need not be opened to be planned: its files are those of the last time.
public struct KnownCapture: Sendable {
  /// Gathers what the planner compares, by the summary of the last run.
  let collector: FactsCollector
  /// Warnings of opening.
  public var warnings: [CaptureWarning]
  let recognition: Recognition
  /// Files of the capture as they were found a moment ago.
  let inputs: InputListing
  /// `capture.json` as the last run left it.
  let document: FileStamp?
  /// Digest of the requests that are noted; `nil`: there are none.
  private let requests: Digest?

  /// How files of a capture are compared with those that were noted.
  package enum Comparison: Sendable {
    /// By all stamps; files that had changed just before they were noted count as changed.
    case stamps
    /// By all stamps; the digests of files that had changed just before they were noted, which are not noted, come
    /// from reading them again.
    case recentStamps
    /// By names, sizes and times of modification: owner, mode and inode may be others.
    case times
    /// By names, sizes and times of modification, and all that is read of the files is read again.
    case contents
  }

  /// What the last run knew, if nothing has changed since: same reader, same files with the same stamps,
  /// none added. `nil` otherwise. Writes nothing; damaged notes count as none.
  ///
  /// Cost: one system call per input file and a few more.
  ///
  /// - Parameters:
  ///   - recognition: `nil`: what the index says, where the folder held this capture and no other; the same files are
  ///     recognized in the same way.
  ///   - verify: whether outputs are compared by digest, too.
  static func ifCurrent(
    _ recognition: Recognition?, _ layout: OutputLayout, registry: CaptureRegistry,
    pool: ParameterPool = ParameterPool(), comparison: Comparison = .stamps, verify: Bool = false
  ) -> KnownCapture? {
    let open = OpenOutput(layout)
    return ifCurrent(
      recognition, open, RecordIndex(open, pool: pool), registry: registry, comparison: comparison,
      verify: verify)
  }

  /// What is known of an output that is held open, with its index if it has one, else with its cache.
  ///
  /// - Parameter cache: `nil`: it is read where there is no index.
  static func ifCurrent(
    _ recognition: Recognition?, _ open: OpenOutput, _ index: RecordIndex?,
    cache: CaptureCache? = nil, registry: CaptureRegistry, comparison: Comparison,
    verify: Bool = false
  ) -> KnownCapture? {
    let core: RecordIndex.Core
    if let index {
      core = index.core
    } else {
      guard let cache = cache ?? CaptureCache(open) else { return nil }
      core = RecordIndex.Core(
        summary: cache.summary, generation: cache.generation, warnings: cache.warnings,
        inputs: cache.inputs, document: nil, requests: cache.requests.digest)
    }
    guard let recognition = recognition ?? onlyCapture(core, signature: registry.signature),
      core.summary.family == recognition.family,
      core.inputs.folder == recognition.path.text, core.inputs.stem == recognition.stem,
      core.summary.readerVersion == registry.readerVersion(of: recognition.family),
      let inputs = core.inputs.listedAgain(), isSame(core.inputs, inputs, comparison)
    else { return nil }
    let collector = FactsCollector(
      summary: core.summary, folder: recognition.path, store: ArtifactStore(open, index: index),
      digests: DigestCache(
        open.layout.digestCache, capture: recognition.path, known: index?.digests ?? [:],
        unchanged: comparison == .contents ? [:] : core.inputs.stamps),
      verify: verify)
    return KnownCapture(
      collector: collector, warnings: core.warnings, recognition: recognition, inputs: inputs,
      document: core.document, requests: core.requests)
  }

  private static func isSame(
    _ inputs: InputListing, _ now: InputListing, _ comparison: Comparison
  ) -> Bool {
    switch comparison {
    case .stamps: inputs.isSettled && inputs.looksCurrent(now)
    case .recentStamps: inputs.looksCurrent(now)
    // Contents are read afterwards: they decide, also about files that had changed just before they were noted.
    case .times, .contents: inputs.hasTimes(of: now)
    }
  }

  /// The capture in `folder`, when its output in `root` tells that it is the only one there and nothing
  /// has changed since it was recognized by the same readers.
  static func onlyCapture(
    of folder: FilePath, in root: FilePath, signature: String
  ) -> Recognition? {
    guard let name = folder.name else { return nil }
    let layout = OutputLayout(root: root, name: OutputLayout.folderName(forID: name))
    guard let notes = layout.openNotes(),
      let cacheStamp = notes.stamp(of: OutputNames.captureCache),
      let core = RecordIndex.core(in: notes, cacheStamp: cacheStamp),
      let known = onlyCapture(core, signature: signature), known.folder == folder,
      core.summary.id == name, core.inputs.isCurrent()
    else { return nil }
    return known
  }

  /// Whether its files are still the same is not looked at.
  private static func onlyCapture(_ core: RecordIndex.Core, signature: String) -> Recognition? {
    guard core.onlyCaptureBy == signature, core.inputs.stem == nil else { return nil }
    return Recognition(
      family: core.summary.family, certainty: .certain,
      folder: FilePath(text: core.inputs.folder), id: core.summary.id,
      reason: "known from an earlier run")
  }

  /// What it was asked for; `nil` where its notes are damaged. Cost: a file, for the first of many captures alone.
  func requests(_ pool: ParameterPool) -> Requests? {
    guard let requests else { return Requests() }
    return pool.requests(requests) { CaptureCache(of: collector.store.layout)?.requests }
  }
}

/// Finds out ahead which captures need no worker, many at a time on all cores that the run may use.
package struct UpToDateCheck: Sendable {
  /// What was found out about one capture.
  package struct Finding: Sendable {
    /// Index into the targets of the run.
    package var index: Int
    /// Another run works on it.
    var isLocked: Bool
    /// The report of a capture for which nothing is to be done.
    package var upToDate: CaptureReport?
  }

  private let batch: BatchRun
  private let targets: [CaptureTarget]
  private let pool = ParameterPool()
  private let budget: CoreBudget
  private let comparison: KnownCapture.Comparison

  package init(
    _ batch: BatchRun, _ targets: [CaptureTarget], comparison: KnownCapture.Comparison = .stamps
  ) {
    self.batch = batch
    self.comparison = comparison
    self.targets = targets
    budget = CoreBudget(cores: batch.options.cores)
  }

  /// How many captures are looked at before anything is made of it: what is found out of one with nothing
  /// but notes costs a tenth of a millisecond; with `--verify` all that it published is read.
  package var blockLength: Int { batch.options.verify ? batch.options.cores : 256 }

  /// Looks at some captures; findings come in the order of `indices`. An interrupt ends it early: what
  /// has not been looked at by then is left out.
  package func look(at indices: [Int], until interruption: Interruption) -> [Finding] {
    // Captures are examined in groups, because taking a core's token costs as much as planning one.
    let share = max(1, min(16, indices.count / batch.options.cores))
    let found = try? concurrentMap(indices, share: share, budget: budget) { index -> Finding? in
      interruption.isRequested ? nil : look(at: index)
    }
    return (found ?? []).compactMap(\.self)
  }

  private func look(at index: Int) -> Finding {
    let target = targets[index]
    let isLocked = FileLock.isHeld(at: target.layout.lock)
    return Finding(
      index: index, isLocked: isLocked,
      upToDate: isLocked ? nil : batch.upToDate(target, pool, comparison: comparison))
  }
}
