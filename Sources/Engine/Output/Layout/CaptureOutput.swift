import Core
import Synchronization
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

}

extension CaptureOutput {
  /// Opens it, making what is absent. Throws before anything is made when a folder of ours is
  /// foreign.
  init(making layout: OutputLayout) throws(FileError) {
    let root = try HeldFolder.making(following: layout.root)
    if let present = try root.folder(layout.name) {
      try Self.checkOwnFolders(present)
      try Self.checkDocument(in: present)
    }
    let folder = try root.makeFolder(layout.name)
    self.init(
      layout: layout, root: root, folder: folder, notes: try folder.makeFolder(OutputNames.notes))
  }

  /// Opens what is there; `nil` when there is nothing.
  init?(existing layout: OutputLayout) throws(FileError) {
    guard FileSystem.isFolder(layout.root) else { return nil }
    let root = try HeldFolder.following(layout.root)
    guard let folder = try root.folder(layout.name) else { return nil }
    try Self.checkOwnFolders(folder)
    guard let notes = try folder.folder(OutputNames.notes) else { return nil }
    self.init(layout: layout, root: root, folder: folder, notes: notes)
  }

  /// Whether everything still lies where it was opened; throws when it was moved, removed or replaced.
  func checkInPlace() throws(FileError) {
    guard root.isInPlace, try root.holds(folder, as: layout.name),
      try folder.holds(notes, as: OutputNames.notes)
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
    guard try folder.holds(staging.parent, as: OutputNames.staging) else {
      throw FileError(
        kind: .unpublishable, path: layout.stagingRoot, operation: "publish",
        reason: "was moved away or replaced while the stage ran",
        remedy: "a program must leave the folder that it is given where it is")
    }
  }

  // MARK: Folders of ours

  /// The folder in which attempts are made; it is made if absent.
  func staging() throws(FileError) -> HeldFolder { try folder.makeFolder(OutputNames.staging) }

  func existingStaging() throws(FileError) -> HeldFolder? {
    try folder.folder(OutputNames.staging)
  }

  func existingFailed() throws(FileError) -> HeldFolder? {
    try folder.folder(OutputNames.failed)
  }

  /// The folder of records of removed intermediates.
  func existingRemovedRecords() throws(FileError) -> HeldFolder? {
    try notes.folder(OutputNames.removed)
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
    folder.removeIfEmpty(OutputNames.staging)
    folder.removeIfEmpty(OutputNames.failed)
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
    let listed = Dictionary(firstOf: record.outputs.map { ($0.path, $0.bytes) })
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
    return notes.stampedContents(of: OutputNames.index).flatMap {
      try? RecordIndex($0.bytes, cacheStamp: nil, pool: ParameterPool())
    }?.records[stage]?.record
  }

  // Which of the folders and files with our names are ours.

  /// Throws when `.scanmill`, `.staging` or `.failed` is a link, a file, or holds what we did not put
  /// there.
  static func checkOwnFolders(_ folder: HeldFolder) throws(FileError) {
    if let notes = try folder.folder(OutputNames.notes) { try checkNotes(notes) }
    if let staging = try folder.folder(OutputNames.staging) {
      for name in try staging.names() where !isAside(name) {
        throw FileError.notOurs(staging.path.appending(name), "was not made by scanmill")
      }
    }
    if let failed = try folder.folder(OutputNames.failed) {
      for name in try failed.names() where !isAside(name) {
        guard try isFailure(name, in: failed) else {
          throw FileError.notOurs(
            failed.path.appending(name), "is not a failed attempt that scanmill kept")
        }
      }
    }
  }

  /// A name that file systems and file managers make by themselves, or one of ours in staging.
  private static func isAside(_ name: String) -> Bool {
    name.hasPrefix(".nfs") || name == ".DS_Store" || name.hasPrefix("._")
      || StagingName(name) != nil
  }

  /// Our notes hold at least one of our files; a foreign folder of that name holds none.
  private static func checkNotes(_ notes: HeldFolder) throws(FileError) {
    let names = try notes.names()
    guard !names.isEmpty else { return }
    for name in names {
      switch name {
      case OutputNames.captureCache, OutputNames.index, OutputNames.digests, OutputNames.owner:
        if try notes.entry(name)?.kind == .file { return }
      case OutputNames.removed: if try notes.entry(name)?.kind == .folder { return }
      case OutputNames.lock:
        // Refused here, before anything is made: what it leads to would be written to.
        let text = try notes.contents(of: name, limit: 1 << 16) ?? []
        if text.isEmpty || String(decoding: text, as: UTF8.self).hasPrefix("scanmill ") { return }
      default:
        if name.hasPrefix("."), name.hasSuffix(".new") { return }
      }
    }
    throw FileError.notOurs(notes.path, "holds nothing that scanmill made")
  }

  /// Whether `name` in the folder of failed attempts is one: with our note in it, or empty.
  static func isFailure(_ name: String, in failed: HeldFolder) throws(FileError) -> Bool {
    guard try failed.entry(name)?.kind == .folder, let place = try failed.folder(name) else {
      return false
    }
    if let note = try evidence(OutputNames.failure, in: place) {
      return Failure(note: note) != nil
    }
    return try place.names().isEmpty
  }

  /// The content of a file that tells whose a folder is; `nil`: there is none that can be ours. Throws where it is not
  /// known what lies there.
  static func evidence(_ name: String, in folder: HeldFolder) throws(FileError) -> [UInt8]? {
    do throws(FileError) {
      return try folder.contents(of: name)
    } catch {
      if error.leavesUnknown { throw error }
      return nil
    }
  }

  /// Removes the note of the last failure of `stage`; what is not ours is an error.
  func removeFailure(_ stage: String) throws(FileError) {
    guard let failed = try existingFailed(), try failed.entry(stage) != nil else { return }
    guard try Self.isFailure(stage, in: failed) else {
      throw FileError.notOurs(
        failed.path.appending(stage), "is not a failed attempt that scanmill kept")
    }
    try failed.remove(stage)
  }

  /// Throws when `capture.json` is not one of ours.
  func checkDocument() throws(FileError) { try Self.checkDocument(in: folder) }

  static func checkDocument(in folder: HeldFolder) throws(FileError) {
    let name = OutputNames.document
    guard try folder.entry(name) != nil else { return }
    let path = folder.path.appending(name)
    guard let bytes = try folder.contents(of: name) else { return }
    if RecordedDocument.isOurs(bytes) { return }
    // A document that the disk has torn is empty, zeros or broken JSON. It is replaced only where our own notes
    // stand beside it.
    let isTorn =
      bytes.allSatisfy { $0 == 0 }
      || bytes.first == UInt8(ascii: "{") && (try? JSONValue(json: bytes)) == nil
    guard isTorn,
      try folder.folder(OutputNames.notes)?.entry(OutputNames.captureCache)?.kind == .file
    else {
      throw FileError.notOurs(path, "is not a description that scanmill wrote")
    }
  }
}

/// The folder of a capture in the output, held open for one look at it: whoever reads in it reads in the folder that
/// was opened, its path is resolved once, and a small file is read once for all who ask for it.
///
/// Not kept longer than a look takes: what changes after something was read is not noticed. Cost: at most five
/// descriptors while it is held.
public final class OpenOutput: Sendable {
  let layout: OutputLayout
  /// `nil` where there is none that can be read. A link in its place is not followed.
  package let folder: HeldFolder?
  private let state = Mutex(State())

  private struct State {
    /// Folders by their paths in the folder of the capture; `nil` where no folder can be read.
    var folders: [String: HeldFolder?] = [:]
    /// Contents of files by their paths in the folder of the capture; `nil` where there is no file, or it is too large.
    var files: [String: [UInt8]?] = [:]
  }

  init(_ layout: OutputLayout) {
    self.layout = layout
    folder = HeldFolder(layout.folder, followsLast: false)
  }

  /// The folder of notes; `nil` where there is none that can be read.
  package var notes: HeldFolder? { inner(OutputNames.notes) { self.folder?.below($0) } }
  /// Records of intermediates that were removed after use.
  var removed: HeldFolder? { inner(OutputNames.removed) { self.notes?.below($0) } }
  /// Records of stages that had nothing left to do.
  package var empty: HeldFolder? { inner(OutputNames.empty) { self.notes?.below($0) } }
  /// Failed attempts.
  package var failed: HeldFolder? { inner(OutputNames.failed) { self.folder?.below($0) } }

  private func inner(_ name: String, _ open: (String) -> HeldFolder?) -> HeldFolder? {
    if let known = state.withLock({ $0.folders[name] }) { return known }
    let opened = open(name)
    state.withLock { $0.folders[name] = .some(opened) }
    return opened
  }

  /// A file in the folder of the capture, of at most `InputLimits.bytesOfRecord`.
  func contents(of name: String) -> [UInt8]? { file(name, name, in: folder) }

  /// A file in the folder of notes, within the same limit.
  package func note(_ name: String) -> [UInt8]? {
    file("\(OutputNames.notes)/\(name)", name, in: notes)
  }

  private func file(_ path: String, _ name: String, in folder: HeldFolder?) -> [UInt8]? {
    if let known = state.withLock({ $0.files[path] }) { return known }
    let bytes = folder?.stampedContents(of: name)?.bytes
    state.withLock { $0.files[path] = .some(bytes) }
    return bytes
  }
}

/// The name of something in `.staging`: an attempt at a stage (`STAGE.ID`), an old artifact that waits
/// while a new one takes its place (`~STAGE.ID`), or one that is about to be removed (`~~STAGE.ID`). `~` is
/// in no stage name; the id is that of the run, or of one of several attempts in it.
struct StagingName: Hashable {
  enum Kind: String, CaseIterable {
    case attempt = ""
    case aside = "~"
    case trash = "~~"
  }

  var kind: Kind
  var stage: String
  var run: RunID

  /// Fails if the name is not ours: the run id tells.
  init?(_ name: String) {
    guard let dot = name.lastIndex(of: "."),
      let run = RunID(String(name[name.index(after: dot)...]))
    else { return nil }
    let head = name[..<dot]
    kind = head.hasPrefix("~~") ? .trash : head.hasPrefix("~") ? .aside : .attempt
    stage = String(head.dropFirst(kind.rawValue.count))
    guard !stage.isEmpty else { return nil }
    self.run = run
  }
}
