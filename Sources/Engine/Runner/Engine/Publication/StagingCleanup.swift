import Core
import SystemPackage

/// Heals and removes what killed runs left. Only for the holder of the capture's lock.
///
/// Where locks are not shared, holding ours does not say that no other process works here: what belongs to a
/// run that may be at work is spared until nothing of it has changed for an hour.
struct StagingCleanup {
  let output: CaptureOutput
  /// The id that names of the one who sweeps carry; what it left itself goes. `nil`: none.
  let attempt: String?
  /// Whether the lock was taken a moment ago.
  var isLocked = true

  /// Names in staging that were spared.
  @discardableResult
  func perform() throws(FileError) -> [String] {
    try restoreMovedAside()
    let spared = try sweepStaging()
    try finishRemovals()
    try removeUnfinishedReplacements()
    return spared
  }

  /// What a run that is over has left in staging, by name; the rest is `spared`.
  func leftovers() throws(FileError) -> (leftovers: [String], spared: [String]) {
    guard let staging = try output.existingStaging() else { return ([], []) }
    let age = StagingAge(nowNanoseconds: fileTime)
    var (leftovers, spared): ([String], [String]) = ([], [])
    for name in try staging.names() {
      guard let parts = StagingName(name) else { continue }
      let isLeft: Bool
      if parts.run.text == attempt || parts.run.isAlive == false {
        isLeft = true
      } else if parts.run.isAlive == true {
        isLeft = false
      } else {
        isLeft = try !age.isYoung(name, in: staging)
      }
      if isLeft { leftovers.append(name) } else { spared.append(name) }
    }
    return (leftovers, spared)
  }

  private func sweepStaging() throws(FileError) -> [String] {
    let (leftovers, spared) = try leftovers()
    if let staging = try output.existingStaging() {
      for name in leftovers { try staging.remove(name) }
      output.folder.removeIfEmpty(OutputNames.staging)
    }
    return spared
  }

  /// A kill between the two renames of a file system that cannot exchange leaves the old artifact in
  /// staging and nothing in place: put it back.
  private func restoreMovedAside() throws(FileError) {
    guard let staging = try output.existingStaging() else { return }
    for name in try staging.names() {
      guard let parts = StagingName(name), parts.kind == .aside,
        try output.folder.entry(parts.stage) == nil
      else { continue }
      do throws(FileError) {
        try staging.renameNew(name, to: output.folder, as: parts.stage)
      } catch {
        // Another process has published a new artifact in this place.
        guard try output.folder.entry(parts.stage) != nil else { throw error }
      }
    }
  }

  /// A record of a removed intermediate whose artifact stands there: built again, or not removed yet by
  /// a kill in between; and one whose files were not all removed.
  private func finishRemovals() throws(FileError) {
    guard let removed = try output.existingRemovedRecords() else { return }
    for name in try removed.names() where name.hasSuffix(".json") {
      let stage = String(name.dropLast(5))
      guard let place = try? output.folder.folder(stage) else { continue }
      if try place.entry(ArtifactRecord.fileName) != nil {
        try removed.remove(name)
      } else if try output.place(stage) == .ours {
        try output.folder.remove(stage)
      }
    }
  }

  /// `.NAME.….new`, written beside a file of ours that it never came to replace.
  private func removeUnfinishedReplacements() throws(FileError) {
    for (folder, name) in try unfinishedReplacements() { try folder.remove(name) }
  }

  func unfinishedReplacements() throws(FileError) -> [(HeldFolder, String)] {
    let age = StagingAge(nowNanoseconds: fileTime)
    var found: [(HeldFolder, String)] = []
    let places = [
      (output.folder, [OutputNames.document]),
      (
        output.notes,
        [OutputNames.captureCache, OutputNames.index, OutputNames.digests, OutputNames.owner]
      ),
    ]
    for (folder, known) in places {
      for name in try folder.names() where name.hasPrefix(".") && name.hasSuffix(".new") {
        guard try folder.entry(name)?.kind == .file else { continue }
        let isOld = try !age.isYoung(name, in: folder)
        if known.contains(where: { Replacement.isAbandoned(name, of: $0, isOld: isOld) }) {
          found.append((folder, name))
        }
      }
    }
    return found
  }

  /// The time now as files here are stamped with: servers have clocks of their own, and the lock was
  /// written a moment ago.
  private var fileTime: Int64 {
    let lock = isLocked ? (try? output.notes.entry(OutputNames.lock)) : nil
    return lock?.modifiedNanoseconds ?? FileStamp.nowNanoseconds()
  }
}
