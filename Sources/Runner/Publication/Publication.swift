import Pipeline
import Storage
import SystemPackage

/// Makes a finished staging folder the artifact, in steps of which each leaves either the old artifact,
/// none, or the new one. Whoever next holds the lock heals what a kill between two steps left
/// (`Sweeping`).
struct Publication {
  enum Step: CaseIterable {
    /// Everything the stage wrote is on disk: one flush, not one per file.
    case flushData
    /// `artifact.json`, last of all files.
    case writeRecord
    case flushFolder
    /// Immediately before the rename: what lies in staging is what the record lists, all of it, and
    /// staging and output are where they were.
    case compare
    /// Exchanges old and new in one step; where the file system cannot, moves the old one aside.
    case giveWay
    /// Renames into place unless the exchange did it.
    case putInPlace
    /// Makes the rename durable.
    case flushPlace
    /// An intermediate that had been removed is there again.
    case forgetRemoval
    case removeOld
  }

  let staging: StagingFolder
  let record: ArtifactRecord
  let output: CaptureOutput
  let run: String
  /// `false` behaves as on a file system that cannot exchange two paths.
  let mayExchange: Bool
  private var isExchanged = false
  /// Whether the new artifact is where it belongs: what lies in staging is no attempt any more.
  private(set) var isInPlace = false

  init(
    _ staging: StagingFolder, _ record: ArtifactRecord, output: CaptureOutput, run: String,
    mayExchange: Bool = true
  ) {
    self.staging = staging
    self.record = record
    self.output = output
    self.run = run
    self.mayExchange = mayExchange
  }

  private var stage: String { record.stage }
  private var asideName: String { OutputLayout.asideName(stage, run: run) }

  /// All steps in order. After a failure the old artifact is in its place, or the new one.
  mutating func perform() throws {
    do {
      for step in Step.allCases { try perform(step) }
    } catch {
      putBack()
      throw error
    }
  }

  mutating func perform(_ step: Step) throws {
    switch step {
    case .flushData: try staging.folder.flushFileSystem()
    case .writeRecord:
      try output.checkInPlace(staging)
      try staging.folder.write(
        JSONText.pretty(record), as: ArtifactRecord.fileName, durably: true)
    case .flushFolder: try staging.folder.flush()
    case .compare:
      try output.checkInPlace()
      try output.checkInPlace(staging)
      try staging.check(record.outputs)
    case .giveWay: try giveWay()
    case .putInPlace: try putInPlace()
    case .flushPlace: try output.folder.flush()
    case .forgetRemoval: try output.existingRemovedRecords()?.remove("\(stage).json")
    case .removeOld:
      // After an exchange the old artifact lies where the new one was made.
      try staging.parent.remove(staging.name)
      try staging.parent.remove(asideName)
    }
  }

  private mutating func giveWay() throws(FileError) {
    guard try output.folder.entry(stage) != nil else { return }
    try output.checkPlace(stage)
    isExchanged =
      mayExchange ? try staging.parent.exchange(staging.name, with: output.folder, stage) : false
    if !isExchanged {
      try staging.parent.remove(asideName)
      try output.folder.renameNew(stage, to: staging.parent, as: asideName)
    }
  }

  private mutating func putInPlace() throws(FileError) {
    if !isExchanged {
      do throws(FileError) {
        try staging.parent.renameNew(staging.name, to: output.folder, as: stage)
      } catch {
        // Somebody else has published meanwhile, where locks are not shared: the later one stays.
        guard try output.folder.entry(stage) != nil else { throw error }
        try giveWay()
        if !isExchanged {
          try staging.parent.renameNew(staging.name, to: output.folder, as: stage)
        }
      }
    }
    guard try output.folder.holds(staging.folder, as: stage) else {
      throw FileError(
        kind: .unpublishable, path: staging.path, operation: "publish",
        reason: "was replaced by something else while it was published")
    }
    isInPlace = true
  }

  /// What a failure between two steps has left out of its place. Failing to is left to the next sweep.
  private func putBack() {
    guard !isInPlace else { return }
    if isExchanged {
      // Something else than the new artifact was exchanged for the old one.
      _ = try? staging.parent.exchange(staging.name, with: output.folder, stage)
    } else if (try? output.folder.entry(stage)) == .some(nil) {
      try? staging.parent.renameNew(asideName, to: output.folder, as: stage)
    }
  }
}
