import Core
import SystemPackage

/// Which of the folders and files with our names are ours.
extension CaptureOutput {
  /// Throws when `.scanmill`, `.staging` or `.failed` is a link, a file, or holds what we did not put
  /// there.
  static func checkOwnFolders(_ folder: HeldFolder) throws(FileError) {
    if let notes = try folder.folder(notesName) { try checkNotes(notes) }
    if let staging = try folder.folder(stagingName) {
      for name in try staging.names() where !isAside(name) {
        throw FileError.notOurs(staging.path.appending(name), "was not made by scanmill")
      }
    }
    if let failed = try folder.folder(failedName) {
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
      case removedName: if try notes.entry(name)?.kind == .folder { return }
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
    if let note = try evidence(FailureNote.fileName, in: place) {
      return FailureNote(note) != nil
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
    // Torn by the disk, which leaves nothing or zeros: only where our own notes stand beside it.
    let isTorn = bytes.allSatisfy { $0 == 0 }
    guard isTorn, try folder.folder(notesName)?.entry(OutputNames.captureCache)?.kind == .file else {
      throw FileError.notOurs(path, "is not a description that scanmill wrote")
    }
  }
}
