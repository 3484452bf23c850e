import Captures
import Core
import Dispatch
import Synchronization
import SystemPackage

extension UploadStore {
  /// Makes a new file of a large capture durable, and the note of it in its journal. To be called with the capture's
  /// lock. Whatever fails, the store goes on with what is noted, and writes it at the next chance.
  func journal(
    _ file: UploadManifest.File, _ found: FileStatus?, _ folder: String, _ held: HeldFolder,
    _ name: UploadName
  ) throws {
    state.withLock { $0.journal(file, found, in: folder) }
    do {
      if let inner = name.parts.folder, let inner = try held.folder(inner) {
        try files.syncFolder(inner)
      }
      try appendToJournal(try UploadJournal.line(file), held)
      try files.syncFolder(held)
      try files.syncFolder(incoming)
    } catch {
      state.withLock { $0.change(folder) { $0.isUnsynced = true } }
      throw error
    }
    foldLater(folder)
  }

  private func appendToJournal(_ line: [UInt8], _ held: HeldFolder) throws(FileError) {
    let name = UploadJournal.fileName
    let path = held.path.appending(name)
    let file =
      held.stamp(of: name) == nil
      ? try files.create(name, in: held) : try files.reopen(name, in: held)
    try write(line, to: file, at: path, durably: true)
  }

  /// Has the manifest written soon: after `journalSeconds`, or later where writing takes long, so that it stays a small part
  /// of the work.
  private func foldLater(_ folder: String) {
    let delay = state.withLock { state -> Double? in
      guard let stored = state[folder], !stored.isFoldPlanned else { return nil }
      state.change(folder) { $0.isFoldPlanned = true }
      return max(limits.journalSeconds, 20 * stored.foldSeconds)
    }
    guard let delay else { return }
    DispatchQueue.global().asyncAfter(deadline: .now() + delay) { [weak self] in
      self?.fold(folder)
    }
  }

  /// Writes the manifest of a folder that has a journal.
  func fold(_ folder: String) {
    guard let capture = self.folder(folder)?.manifest.capture else { return }
    withCapture(capture) {
      // The lock of STAGING may be another receiver's by now.
      let stored = state.withLock { state -> StoredFolder? in
        state.change(folder) { $0.isFoldPlanned = false }
        return state.isClosed ? nil : state[folder]
      }
      guard let stored, stored.hasJournal || stored.isUnsynced,
        let held = try? staging.folder(folder)
      else { return }
      let start = ContinuousClock.now
      _ = settleOrNote(stored, held)
      let seconds = Double((ContinuousClock.now - start) / .microseconds(1)) / 1e6
      state.withLock { $0.change(folder) { $0.foldSeconds = seconds } }
    }
  }

  /// Writes all manifests that have journals, before the end.
  func foldAll() {
    for folder in state.withLock({ $0.folders.values.filter(\.hasJournal).map(\.name) }) {
      fold(folder)
    }
  }

  /// Files of the journal that a killed receiver has left in a folder; `nil` if there is no journal that can be read.
  func journal(in held: HeldFolder, of folder: String) -> [UploadManifest.File]? {
    do throws(FileError) {
      let bytes = try held.contents(of: UploadJournal.fileName, limit: UploadJournal.mostBytes)
      return bytes.map { UploadJournal.files(in: $0) }
    } catch {
      log("\(folder): files that no manifest names count as copied here by others: \(error)")
      return nil
    }
  }
}

extension UploadStore {
  /// Makes names durable, then the manifest. Whatever fails, the store goes on with what is noted,
  /// and writes it at the next chance.
  func settle(_ folder: StoredFolder, _ held: HeldFolder, _ names: [UploadName]) throws(FileError) {
    var folder = folder
    let wasUnsynced = folder.isUnsynced
    folder.isUnsynced = true
    folder.manifest = judged(folder)
    state.withLock { $0.put(folder) }
    let changed = names.map(\.name) + (wasUnsynced ? folder.manifest.files.map(\.name) : [])
    for name in Set(changed.compactMap { UploadName.parts(of: $0).folder }.map(NameKey.init)) {
      if let folder = try held.folder(name.text) { try files.syncFolder(folder) }
    }
    try files.syncFolder(held)
    try files.syncFolder(incoming)
    try writeManifest(folder, held)
    folder.isUnsynced = false
    if held.stamp(of: UploadJournal.fileName) != nil {
      // A journal that cannot be removed repeats the manifest only; the next write removes it.
      do throws(FileError) {
        try files.remove(UploadJournal.fileName, in: held)
        folder.hasJournal = false
      } catch {
        log("the journal of \(folder.name) could not be removed: \(error)")
      }
    } else {
      folder.hasJournal = false
    }
    state.withLock { $0.put(folder) }
  }

  /// Settles a folder of which no file has come now; whether that is done. Errors are left to the next change.
  func settleOrNote(_ folder: StoredFolder, _ held: HeldFolder) -> Bool {
    do throws(FileError) {
      try settle(folder, held, [])
      return true
    } catch {
      log("the manifest of \(folder.name) is not up to date: \(error)")
      return false
    }
  }

  func writeManifest(_ folder: StoredFolder, _ held: HeldFolder) throws(FileError) {
    try write(
      { try JSONText.pretty(folder.manifest) }, to: held, as: UploadManifest.fileName,
      durably: true)
    try files.syncFolder(held)
  }

  // MARK: Completeness

  /// Number of missing names that are listed at most.
  private static let mostMissing = 500

  /// The manifest with what is missing and whether it is complete, by the files that are there now.
  func judged(_ folder: StoredFolder) -> UploadManifest {
    var manifest = folder.manifest
    var isWhole = manifest.declared
    if let listing = try? FolderListing(of: staging.path.appending(name: folder.name)) {
      if let found = registry.upload(of: manifest.capture, in: listing) {
        isWhole = isWhole || found.lacking.isEmpty
        manifest.family = found.family.rawValue
        // Names come from files of the sender; the rest of the manifest has to fit into a mebibyte.
        manifest.missing = Array(
          found.lacking.prefix(Self.mostMissing).filter { $0.utf8.count <= UploadName.mostBytes })
      } else {
        manifest.missing = []
        if manifest.family == nil, manifest.declared {
          manifest.family = registry.recognize(listing).first?.family.rawValue
        }
      }
    }
    let isAwaiting = state.withLock { !$0.awaited(by: folder).isEmpty }
    if isWhole, !manifest.hasMismatch, !isAwaiting, !manifest.files.isEmpty {
      manifest.complete = manifest.complete ?? time
    } else {
      manifest.complete = nil
    }
    return manifest
  }

  /// Judges a capture again and writes what has changed. Errors are left to the next change. To be
  /// called with the capture's lock.
  func rejudge(_ capture: String) {
    for folder in state.withLock({ $0.versions(of: capture) }) {
      if folder.takesJournal { continue }
      guard folder.isUnsynced || judged(folder) != folder.manifest,
        let held = try? staging.folder(folder.name)
      else { continue }
      _ = settleOrNote(folder, held)
    }
  }
}
