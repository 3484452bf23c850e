import Captures
import Core
import Synchronization
import SystemPackage

extension UploadStore {
  /// Makes names durable, then the manifest. Whatever fails, the store goes on with what is noted,
  /// and writes it at the next chance.
  func settle(_ folder: StoredFolder, _ held: HeldFolder, _ names: [UploadName]) throws(FileError) {
    var folder = folder
    let wasUnsynced = folder.isUnsynced
    folder.isUnsynced = true
    folder.manifest = judged(folder)
    state.withLock { $0.put(folder) }
    var inner = Set(names.compactMap(\.parts.folder).map(NameKey.init))
    if wasUnsynced {
      for file in folder.manifest.files {
        if let slash = file.name.utf8.firstIndex(of: UInt8(ascii: "/")) {
          inner.insert(NameKey(String(file.name[..<slash])))
        }
      }
    }
    for name in inner {
      if let folder = try held.folder(name.text) { try files.syncFolder(folder) }
    }
    try files.syncFolder(held)
    try files.syncFolder(incoming)
    try writeManifest(folder, held)
    folder.isUnsynced = false
    if held.stamp(of: UploadJournal.fileName) != nil {
      // One that stays tells nothing that the manifest does not; it is removed the next time.
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

  func writeManifest(_ folder: StoredFolder, _ held: HeldFolder) throws(FileError) {
    let bytes: [UInt8]
    do {
      bytes = try folder.manifest.encoded()
    } catch {
      throw FileError(
        kind: .other, path: held.path.appending(UploadManifest.fileName), operation: "write",
        reason: "\(error)")
    }
    try write(bytes, to: held, as: UploadManifest.fileName, durably: true)
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
      manifest.complete = manifest.complete ?? UTCText.exact(nanoseconds: now())
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
        let held = (try? staging.folder(folder.name)).flatMap({ $0 })
      else { continue }
      do throws(FileError) {
        try settle(folder, held, [])
      } catch {
        log("the manifest of \(folder.name) is not up to date: \(error)")
      }
    }
  }
}
