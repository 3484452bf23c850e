import Core
import SystemPackage

/// The output folder of one capture, held open for whoever writes, renames or removes in it.
///
/// `--output` itself may be reached through links, as the user said so; from there on none is followed.
/// What lies in our way and is not provably ours is refused (`FileError.Kind.notOurs`) and left alone.
package struct CaptureOutput: Sendable {
  let layout: OutputLayout
  /// `--output`, and in it the folder of the capture.
  let root: HeldFolder
  package let folder: HeldFolder
  package let notes: HeldFolder

  static let notesName = OutputNames.notes
  static let stagingName = OutputNames.staging
  static let failedName = OutputNames.failed
  static let removedName = OutputNames.removed
  static let emptyName = OutputNames.empty

  private init(
    _ layout: OutputLayout, _ root: HeldFolder, _ folder: HeldFolder, _ notes: HeldFolder
  ) {
    self.layout = layout
    self.root = root
    self.folder = folder
    self.notes = notes
  }

  /// Opens it, making what is absent. Throws before anything is made when a folder of ours is
  /// foreign.
  init(making layout: OutputLayout) throws(FileError) {
    let root = try HeldFolder.making(following: layout.root)
    if let present = try root.folder(layout.name) {
      try Self.checkOwnFolders(present)
      try Self.checkDocument(in: present)
    }
    let folder = try root.makeFolder(layout.name)
    self.init(layout, root, folder, try folder.makeFolder(Self.notesName))
  }

  /// Opens what is there; `nil` when there is nothing.
  init?(existing layout: OutputLayout) throws(FileError) {
    guard FileSystem.isFolder(layout.root) else { return nil }
    let root = try HeldFolder.following(layout.root)
    guard let folder = try root.folder(layout.name) else { return nil }
    try Self.checkOwnFolders(folder)
    guard let notes = try folder.folder(Self.notesName) else { return nil }
    self.init(layout, root, folder, notes)
  }

  /// Whether everything still lies where it was opened; throws when it was moved, removed or replaced.
  func checkInPlace() throws(FileError) {
    guard root.isInPlace, try root.holds(folder, as: layout.name),
      try folder.holds(notes, as: Self.notesName)
    else {
      throw FileError(
        kind: .notFound, path: layout.folder, operation: "publish",
        reason: "the output was moved, removed or replaced during the run",
        remedy: "put it back and run the same command again")
    }
  }

  /// Throws when the folder that attempts are made in is not where it was: a program has moved it.
  func checkInPlace(_ staging: StagingFolder) throws(FileError) {
    try staging.checkInPlace()
    guard try folder.holds(staging.parent, as: Self.stagingName) else {
      throw FileError(
        kind: .unpublishable, path: layout.stagingRoot, operation: "publish",
        reason: "was moved away or replaced while the stage ran",
        remedy: "a program must leave the folder that it is given where it is")
    }
  }

  // MARK: Folders of ours

  /// Where attempts are made; made if absent.
  func staging() throws(FileError) -> HeldFolder { try folder.makeFolder(Self.stagingName) }

  func existingStaging() throws(FileError) -> HeldFolder? {
    try folder.folder(Self.stagingName)
  }

  func existingFailed() throws(FileError) -> HeldFolder? {
    try folder.folder(Self.failedName)
  }

  /// Where the records of removed intermediates are.
  func existingRemovedRecords() throws(FileError) -> HeldFolder? {
    try notes.folder(Self.removedName)
  }

  /// An empty folder to make an attempt in.
  func stagingFolder(_ stage: String, attempt: String) throws(FileError) -> StagingFolder {
    let name = OutputLayout.stagingName(stage, attempt: attempt)
    for _ in 0..<3 {
      do throws(FileError) {
        return try StagingFolder(in: try staging(), name: name)
      } catch {
        // Another run may have tidied the empty folder away since it was opened.
        guard error.kind == .notFound else { throw error }
      }
    }
    return try StagingFolder(in: try staging(), name: name)
  }

  /// Removes our own folders that a finished run has left empty. Only for the holder of the lock.
  func tidy() {
    folder.removeIfEmpty(Self.stagingName)
    folder.removeIfEmpty(Self.failedName)
  }

  // MARK: What is ours

  /// What lies in the place of a stage's artifact.
  package enum Place: Hashable {
    case free
    /// An artifact of ours, whole or damaged.
    case ours
    /// Why it is not.
    case foreign(String)
  }

  /// A folder is an artifact of `stage` when its record says so, or one too damaged to say anything, or
  /// when it holds nothing but what the record of a removed intermediate lists. An empty folder is free.
  package func place(_ stage: String) throws(FileError) -> Place {
    guard let entry = try folder.entry(stage) else { return .free }
    guard entry.kind == .folder, let place = try folder.folder(stage) else {
      return .foreign("is not a folder that scanmill made")
    }
    let names = try place.names()
    if names.isEmpty { return .free }
    if let record = try Self.evidence(ArtifactRecord.fileName, in: place),
      ArtifactRecord.isOurs(record, of: stage)
    {
      return .ours
    }
    if !names.contains(ArtifactRecord.fileName), try isHalfRemoved(place, stage) { return .ours }
    return .foreign("has no \(ArtifactRecord.fileName) that scanmill wrote")
  }

  /// Throws when something foreign is where `stage` is to be published.
  func checkPlace(_ stage: String) throws(FileError) {
    if case .foreign(let why) = try place(stage) {
      throw FileError.notOurs(layout.artifact(stage), why, operation: "publish")
    }
  }

  /// Removes the artifact of `stage`: moves it aside in one step, then removes it there. A kill in between leaves what
  /// the next sweep removes. What is not ours stays and is an error.
  ///
  /// - Parameter attempt: the id that names in staging carry.
  func removeArtifact(_ stage: String, attempt: String) throws(FileError) {
    try checkPlace(stage)
    guard try folder.folder(stage) != nil else { return }
    let trash = OutputLayout.trashName(stage, attempt: attempt)
    let staging = try staging()
    try staging.remove(trash)
    try folder.renameNew(stage, to: staging, as: trash)
    try staging.remove(trash)
  }

  /// Whether it holds nothing but files of an artifact that is known to have been there: a removal in place, as earlier
  /// versions did it, was ended in the middle.
  private func isHalfRemoved(_ place: HeldFolder, _ stage: String) throws(FileError) -> Bool {
    guard let record = try knownRecord(stage) else { return false }
    let listed = Dictionary(record.outputs.map { ($0.path, $0.bytes) }) { first, _ in first }
    func holdsOnlyListed(_ folder: HeldFolder, _ prefix: String) throws(FileError) -> Bool {
      for name in try folder.names() {
        if let bytes = listed[prefix + name], try folder.entry(name)?.fileStamp?.bytes == bytes {
          continue
        }
        guard let inner = try folder.folder(name),
          try holdsOnlyListed(inner, prefix + name + "/")
        else { return false }
      }
      return true
    }
    do throws(FileError) {
      return try holdsOnlyListed(place, "")
    } catch {
      if error.kind == .notOurs { return false }
      throw error
    }
  }

  /// What is noted of an artifact whose own record is gone: it was an intermediate, or the index has it.
  private func knownRecord(_ stage: String) throws(FileError) -> ArtifactRecord? {
    if let bytes = try existingRemovedRecords()?.contents(of: "\(stage).json") {
      return ArtifactRecord(reading: bytes)
    }
    // A run that is at work has written its cache, and not yet its index.
    return notes.stampedContents(of: layout.indexName).flatMap {
      try? RecordIndex($0.bytes, cacheStamp: nil, pool: ParameterPool())
    }?.records[stage]?.record
  }
}
