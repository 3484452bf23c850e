import Core
import FoundationEssentials
import Glibc
import SystemPackage

/// Makes a finished staging folder the artifact, in steps of which each leaves either the old artifact,
/// none, or the new one. Whoever next holds the lock heals what a kill between two steps left
/// (`StagingCleanup`).
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
    /// Looks whether it is there, or what another run has put there since.
    case confirm
    /// Makes the rename durable.
    case flushPlace
    /// An intermediate that had been removed is there again.
    case forgetRemoval
    case removeOld
  }

  let staging: StagingFolder
  let record: ArtifactRecord
  let output: CaptureOutput
  /// The id that names in staging carry.
  let attempt: String
  /// `false` behaves as on a file system that cannot exchange two paths.
  let mayExchange: Bool
  /// `false`: it is not needed after a crash of the machine, so no disk is waited for.
  let isLasting: Bool
  private var isExchanged = false
  /// Whether the new artifact is where it belongs: what lies in staging is no attempt any more.
  private(set) var isInPlace = false

  init(
    _ staging: StagingFolder, _ record: ArtifactRecord, output: CaptureOutput, attempt: String,
    mayExchange: Bool = true, isLasting: Bool = true
  ) {
    self.staging = staging
    self.record = record
    self.output = output
    self.attempt = attempt
    self.mayExchange = mayExchange
    self.isLasting = isLasting
  }

  private var stage: String { record.stage }
  private var asideName: String { OutputLayout.asideName(stage, attempt: attempt) }

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
    case .flushData: if isLasting { try staging.folder.flushFileSystem() }
    case .writeRecord:
      try output.checkInPlace(staging)
      try staging.folder.write(
        record.fileBytes(), as: ArtifactRecord.fileName, durably: isLasting)
    case .flushFolder: if isLasting { try staging.folder.flush() }
    case .compare:
      try output.checkInPlace()
      try output.checkInPlace(staging)
      try staging.check(record.outputs)
    case .giveWay: try giveWay()
    case .putInPlace: if !isExchanged { try putInPlace() }
    case .confirm: try confirm()
    case .flushPlace: if isLasting { try output.folder.flush() }
    case .forgetRemoval: try output.existingRemovedRecords()?.remove("\(stage).json")
    case .removeOld:
      // After an exchange the old artifact lies where the new one was made.
      try staging.parent.remove(staging.name)
      try staging.parent.remove(asideName)
    }
  }

  /// Where locks are not shared, another run may take away what lies there between two steps of this: then there is
  /// nothing that has to give way.
  private mutating func giveWay() throws(FileError) {
    do throws(FileError) {
      guard try output.folder.entry(stage) != nil else { return }
      try output.checkPlace(stage)
      isExchanged =
        mayExchange
        ? try staging.parent.exchange(staging.name, with: output.folder, stage) : false
      if !isExchanged {
        try staging.parent.remove(asideName)
        try output.folder.renameNew(stage, to: staging.parent, as: asideName)
      }
    } catch {
      guard try output.folder.entry(stage) == nil else { throw error }
    }
  }

  /// Puts the artifact in its place. The later of two runs that do not share locks stays, however often they meet.
  private mutating func putInPlace() throws(FileError) {
    for _ in 0..<Self.mostMeetings {
      do throws(FileError) {
        return try staging.parent.renameNew(staging.name, to: output.folder, as: stage)
      } catch {
        // Done, and a server has lost its answer.
        if try output.folder.holds(staging.folder, as: stage) { return }
        let isTaken = error.code == .fileExists || error.code == .directoryNotEmpty
        if !isTaken, try output.folder.entry(stage) == nil { throw error }
        try giveWay()
        if isExchanged { return }
      }
    }
    try staging.parent.renameNew(staging.name, to: output.folder, as: stage)
  }

  private static let mostMeetings = 100

  private mutating func confirm() throws(FileError) {
    if try !output.folder.holds(staging.folder, as: stage), !isSuperseded() {
      throw FileError(
        kind: .unpublishable, path: staging.path, operation: "publish",
        reason: "was replaced by something else while it was published")
    }
    isInPlace = true
  }

  /// Whether another run, where locks are not shared, has published the same since: as good as ours. It may be
  /// between its own two renames, which is waited for.
  private func isSuperseded() -> Bool {
    for look in 0..<Self.mostLooks {
      if look > 0 { usleep(10_000) }
      guard let place = try? output.folder.folder(stage),
        let bytes = try? place.contents(of: ArtifactRecord.fileName)
      else { continue }
      let other = ArtifactRecord(reading: bytes)
      return other?.stage == stage && other?.fingerprint == record.fingerprint
    }
    return false
  }

  /// Five seconds: as long as an input is waited for.
  private static let mostLooks = 500

  /// What a failure between two steps has left out of its place. Failing to is left to the next sweep.
  private func putBack() {
    guard !isInPlace else { return }
    if isExchanged {
      // What another run has published since stays; anything else was exchanged in place of the new artifact.
      guard (try? output.place(stage)) != .ours else { return }
      _ = try? staging.parent.exchange(staging.name, with: output.folder, stage)
    } else if (try? output.folder.entry(stage)) == nil {
      try? staging.parent.renameNew(asideName, to: output.folder, as: stage)
    }
  }
}

/// The output folder as it was when the run began. Results go there and nowhere else: a folder of the
/// same name that is made later is another one.
struct OutputGuard: Hashable, Sendable, Codable {
  @CodedPath private var path: FilePath
  private var device: UInt64
  private var inode: UInt64

  /// `nil` while there is none.
  init?(_ path: FilePath) {
    guard let found = try? Self.identity(of: path) else { return nil }
    self.path = path
    (device, inode) = (found.device, found.inode)
  }

  /// Throws when it is no longer there.
  func check() throws(FileError) {
    var why = "something else has its name now"
    do throws(FileError) {
      let now = try Self.identity(of: path)
      if now == FileID(device: device, inode: inode) { return }
    } catch {
      guard error.kind == .notFound else { throw error }
      why = "it is gone"
    }
    throw FileError(
      kind: .notFound, path: path, operation: "write",
      reason: "the output folder was removed, moved or replaced while the run went on: \(why)",
      remedy: "put it back and run the same command again")
  }

  private static func identity(of path: FilePath) throws(FileError) -> FileID {
    do throws(Errno) {
      return try FileStatus(followingAllLinksOf: path).id
    } catch {
      throw FileError(error, path: path, operation: "write")
    }
  }
}
