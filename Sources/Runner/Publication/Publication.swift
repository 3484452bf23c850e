import Pipeline
import Storage
import SystemPackage

/// Makes a finished staging folder the artifact, in steps of which each leaves either the old artifact,
/// none, or the new one. Whoever next holds the lock heals what a kill between two steps left (`sweep`).
struct Publication {
  enum Step: CaseIterable {
    /// Everything the stage wrote is on disk: one flush, not one per file.
    case flushData
    /// `artifact.json`, last of all files.
    case writeRecord
    case flushFolder
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

  let staging: FilePath
  let record: ArtifactRecord
  let layout: OutputLayout
  let run: String
  /// `false` behaves as on a file system that cannot exchange two paths.
  let mayExchange: Bool
  private var isExchanged = false

  init(
    _ staging: FilePath, _ record: ArtifactRecord, layout: OutputLayout, run: String,
    mayExchange: Bool = true
  ) {
    self.staging = staging
    self.record = record
    self.layout = layout
    self.run = run
    self.mayExchange = mayExchange
  }

  /// All steps in order.
  mutating func perform() throws {
    for step in Step.allCases { try perform(step) }
  }

  mutating func perform(_ step: Step) throws {
    let place = layout.artifact(record.stage)
    let aside = layout.aside(record.stage, run: run)
    switch step {
    case .flushData: try FileSystem.syncFileSystem(of: staging)
    case .writeRecord:
      try OutputFile.write(
        JSONText.pretty(record), to: staging.appending(ArtifactRecord.fileName), durably: true)
    case .flushFolder: try FileSystem.syncFolder(staging)
    case .giveWay:
      guard FileSystem.exists(place) else { return }
      isExchanged = mayExchange ? try FileSystem.exchange(staging, place) : false
      if !isExchanged {
        try FileSystem.remove(aside)
        try FileSystem.rename(place, to: aside)
      }
    case .putInPlace:
      if !isExchanged { try FileSystem.renameNew(staging, to: place) }
    case .flushPlace: try FileSystem.syncFolder(layout.folder)
    case .forgetRemoval: try FileSystem.remove(layout.removedRecord(record.stage))
    case .removeOld:
      // After an exchange the old artifact lies where the new one was made.
      try FileSystem.remove(staging)
      try FileSystem.remove(aside)
    }
  }
}

extension Publication {
  /// Heals and removes what a killed run left. Only for the holder of the capture's lock.
  static func sweep(_ layout: OutputLayout) throws(FileError) {
    try restoreMovedAside(layout)
    try FileSystem.remove(layout.stagingRoot)
    try finishRemovals(layout)
    try removeUnfinishedReplacements(in: layout.folder)
    try removeUnfinishedReplacements(in: layout.notes)
  }

  /// Removes our own folders that a finished run has left empty. Only for the holder of the lock.
  static func tidy(_ layout: OutputLayout) {
    try? FileSystem.remove(layout.stagingRoot)
    if (try? FileSystem.names(in: layout.failedRoot)) == [] {
      try? FileSystem.remove(layout.failedRoot)
    }
  }

  /// A kill between the two renames of a file system that cannot exchange leaves the old artifact in
  /// staging and nothing in place: put it back.
  private static func restoreMovedAside(_ layout: OutputLayout) throws(FileError) {
    for name in try names(in: layout.stagingRoot) {
      guard let stage = OutputLayout.stage(ofAside: name),
        !FileSystem.exists(layout.artifact(stage))
      else { continue }
      try FileSystem.renameNew(layout.stagingRoot.appending(name), to: layout.artifact(stage))
    }
  }

  /// An intermediate whose record was set apart and whose files were not all removed yet; and a record
  /// that was set apart and whose artifact has been built again.
  private static func finishRemovals(_ layout: OutputLayout) throws(FileError) {
    for name in try names(in: layout.removedRecords) where name.hasSuffix(".json") {
      let stage = String(name.dropLast(5))
      if FileSystem.exists(layout.record(stage)) {
        try FileSystem.remove(layout.removedRecord(stage))
      } else {
        try FileSystem.remove(layout.artifact(stage))
      }
    }
  }

  /// `.NAME.PID.new`, written beside a file that it never came to replace.
  private static func removeUnfinishedReplacements(in folder: FilePath) throws(FileError) {
    for name in try names(in: folder) where name.hasPrefix(".") && name.hasSuffix(".new") {
      try FileSystem.remove(folder.appending(name))
    }
  }

  private static func names(in folder: FilePath) throws(FileError) -> [String] {
    FileSystem.isFolder(folder) ? try FileSystem.names(in: folder) : []
  }
}
