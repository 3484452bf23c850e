import Captures
import Storage
import Synchronization
import SystemPackage

extension UploadStore {
  /// Gives a whole and written part its name. See `IncomingFile.finish`.
  func commit(
    _ upload: IncomingFile, _ digests: FileDigests, bytes: Int64, modified: Int64,
    isVerified: Bool
  ) throws -> UploadOutcome {
    let name = upload.request.name
    return try withCapture(name.capture) {
      let time = UTCText.exact(nanoseconds: now())
      let entry = UploadManifest.File(
        name: name.name, bytes: bytes, md5: digests.md5, sha256: digests.sha256, received: time,
        state: isVerified ? .verified : .unverified, replaced: 0, sender: upload.request.sender,
        userAgent: upload.request.userAgent, modified: UTCText.exact(nanoseconds: modified))
      if let same = try keepSame(entry, upload, isVerified: isVerified) { return same }
      for number in 1...9999 {
        if let placed = try place(entry, upload, inVersion: number) { return placed }
      }
      throw UploadRefusal(.conflict, "there are too many versions of \(name.name) already")
    }
  }

  /// The upload no longer counts as on its way.
  private func forget(_ id: String) {
    state.withLock {
      $0.active[id] = nil
      $0.suspended[id] = nil
    }
  }

  /// The stored file with the same content, if there is one whose bytes on disk still have it. A
  /// file that came in another way and is noted nowhere is noted now.
  private func keepSame(
    _ entry: UploadManifest.File, _ upload: IncomingFile, isVerified: Bool
  ) throws -> UploadOutcome? {
    let name = upload.request.name
    var folders = state.withLock { $0.versions(of: name.capture) }
    if !folders.contains(where: { NameKey($0.name) == NameKey(name.capture) }) {
      let new = UploadManifest(capture: name.capture, at: entry.received)
      folders.insert(StoredFolder(name: name.capture, manifest: new), at: 0)
    }
    for var folder in folders {
      let index = folder.index(of: name.name)
      if let index, folder.manifest.files[index].sha256 != entry.sha256 { continue }
      guard let held = try staging.folder(folder.name),
        let found = try look(at: name, in: held), found.kind == .file,
        found.bytes == entry.bytes,
        try digests(of: name, in: held)?.sha256 == entry.sha256
      else { continue }
      var isChanged = folder.isUnsynced
      if index == nil {
        guard folder.hasSpace(for: entry, limits) else {
          throw Self.tooManyFiles(folder.manifest.files.count)
        }
        var known = entry
        known.modified = UTCText.exact(nanoseconds: found.modifiedNanoseconds)
        folder.manifest.files.append(known)
        isChanged = true
      } else if let index, isVerified, folder.manifest.files[index].state != .verified {
        folder.manifest.files[index].state = .verified
        isChanged = true
      }
      removePart(upload.id)
      forget(upload.id)
      if isChanged { try settle(folder, held, [name]) }
      return UploadOutcome(
        kind: .identical, folder: folder.name, name: name.name, bytes: entry.bytes,
        md5: entry.md5, sha256: entry.sha256)
    }
    return nil
  }

  /// Puts the part into one of the capture's folders; `nil` if that has verified content of the name.
  private func place(
    _ entry: UploadManifest.File, _ upload: IncomingFile, inVersion number: Int
  ) throws -> UploadOutcome? {
    let name = upload.request.name
    let folderName = Self.folderName(name.capture, number)
    let held = try staging.folder(folderName)
    var known = held == nil ? nil : state.withLock { $0.folders[NameKey(folderName)] }
    let index = known?.index(of: name.name)
    if let held, let found = try look(at: name, in: held) {
      guard found.kind == .file else {
        throw UploadRefusal(
          .conflict, "something that is not a file is in the place of \(name.name) on this server")
      }
      if let index, let known, known.manifest.files[index].state == .verified,
        try digests(of: name, in: held)?.sha256 == known.manifest.files[index].sha256
      {
        return nil
      }
    }
    var entry = entry
    if let known {
      if let index { entry.replaced = known.manifest.files[index].replaced + 1 }
      guard known.hasSpace(for: entry, at: index, limits) else {
        throw Self.tooManyFiles(known.manifest.files.count)
      }
    }
    let isReplacing = try held.flatMap { try look(at: name, in: $0) } != nil

    let folder = try held ?? files.makeFolder(folderName, in: staging)
    do {
      if held == nil { try files.syncFolder(staging) }
      var target = folder
      if let inner = name.parts.folder {
        let isNew = try folder.folder(inner) == nil
        target = try files.makeFolder(inner, in: folder)
        if isNew { try files.syncFolder(folder) }
      }
      try files.rename(Self.part(upload.id), in: incoming, to: target, as: name.parts.file)
    } catch {
      if let inner = name.parts.folder { try? files.removeFolder(inner, in: folder) }
      if held == nil { try? files.removeFolder(folderName, in: staging) }
      throw error
    }
    // From here the file has its name; whatever fails, the note of it is kept and written later.
    try? files.remove(Self.recordName(upload.id), in: incoming)
    forget(upload.id)
    if index == nil, known?.takesJournal == true {
      // A second holder of the list would have it copied.
      known = nil
      try journal(entry, folderName, folder, name)
      return outcome(entry, number, isReplacing: isReplacing, folderName)
    }
    var stored =
      known
      ?? StoredFolder(
        name: folderName, manifest: UploadManifest(capture: name.capture, at: entry.received))
    if let index {
      stored.manifest.files[index] = entry
    } else {
      stored.manifest.files.append(entry)
    }
    stored.manifest.lastArrival = entry.received
    try settle(stored, folder, [name])
    return outcome(entry, number, isReplacing: isReplacing, folderName)
  }

  private func outcome(
    _ entry: UploadManifest.File, _ number: Int, isReplacing: Bool, _ folder: String
  ) -> UploadOutcome {
    if number > 1 {
      log(
        "same id, other content: \(entry.name) of \(Self.base(of: folder)) is kept in \(folder)")
    }
    return UploadOutcome(
      kind: number > 1 ? .keptBoth : isReplacing ? .replaced : .stored, folder: folder,
      name: entry.name, bytes: entry.bytes, md5: entry.md5, sha256: entry.sha256)
  }

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

  private func writeManifest(_ folder: StoredFolder, _ held: HeldFolder) throws(FileError) {
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

  /// So many names that are waited for are listed at most.
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
    let isOnItsWay = state.withLock { $0.isOnItsWay(manifest.capture, nil) }
    if isWhole, !manifest.hasMismatch, !isOnItsWay, !manifest.files.isEmpty {
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

  // MARK: Files on disk

  /// The status of a file of a capture; `nil` if it does not exist.
  func look(at name: UploadName, in folder: HeldFolder) throws(FileError) -> FileStatus? {
    let (inner, file) = name.parts
    guard let inner else { return try folder.entry(file) }
    return try folder.folder(inner)?.entry(file)
  }

  /// The digests of the bytes on disk; `nil` if there is no such file. Cost: reads the file.
  func digests(of name: UploadName, in folder: HeldFolder) throws(FileError) -> FileDigests? {
    let (inner, file) = name.parts
    let holder = try inner.map { (inner) throws(FileError) in try folder.folder(inner) } ?? folder
    guard let open = try holder?.openFile(file) else { return nil }
    defer { try? open.close() }
    return try Self.digests(of: open, at: holder?.path.appending(name: file) ?? FilePath(file))
      .finish()
  }

  /// The digests of an open file from its current offset to its end.
  static func digests(
    of file: FileDescriptor, at path: FilePath
  ) throws(FileError) -> RunningDigests {
    let digests = RunningDigests()
    var piece = [UInt8](repeating: 0, count: 1 << 20)
    do {
      while true {
        let count = try piece.withUnsafeMutableBytes { buffer in
          let count = try file.read(into: buffer)
          digests.update(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
          return count
        }
        if count == 0 { return digests }
      }
    } catch {
      throw FileError(error as? Errno ?? .ioError, path: path, operation: "read")
    }
  }
}
