import Captures
import Core
import Synchronization
import SystemPackage

/// A part that is whole and written, and what will be noted of it.
struct WholePart {
  let id: String
  let name: UploadName
  /// When the upload began, in nanoseconds since 1970.
  let began: Int64
  /// The entry of the file; times and state are those of a file that was not known.
  let entry: UploadManifest.File
}

extension UploadStore {
  /// A change of names that can be undone as long as `saved` exists.
  private struct Change {
    var folder: HeldFolder
    var name: String
    /// The content that was replaced, among the parts.
    var saved: String?
  }

  /// Gives whole and written parts of one capture their names, all of them in one folder. If it throws, none has its name,
  /// except where it is a single one: see `IncomingFile.finish`.
  func commit(_ parts: [WholePart]) throws -> [UploadOutcome] {
    guard let first = parts.first else { return [] }
    let capture = first.name.capture
    return try withCapture(capture) {
      let key = UploadSession.Key(capture, first.entry.sender)
      // Held once: it may have as many files as the capture, and is changed in place.
      var session =
        state.withLock { $0.sessions.removeValue(forKey: key) }
        ?? UploadSession(
          recovering: state.withLock { $0.versions(of: capture) }, sender: first.entry.sender,
          at: first.began)
      if session.isOver(at: first.began) { session = UploadSession(at: now()) }
      defer { state.withLock { $0.sessions[key] = session } }
      let next = parts.contains { isOther($0, session) } ? session.next() : nil
      let choice = try choose(parts, next ?? session)
      let outcomes = try put(parts, choice, capture)
      if let next { session = next }
      for part in parts { session.note(part.name.name, part.entry.sha256, at: now()) }
      session.settle(
        in: choice.folder, carrying: choice.carried.map(\.name.name), notIn: choice.excluded)
      return outcomes
    }
  }

  private func isOther(_ part: WholePart, _ session: UploadSession) -> Bool {
    session.isOther(part.name.name, part.entry.sha256) { sha256 in
      let file = session.home.flatMap(folder)?.file(part.name.name)
      return file?.sha256 == sha256 && file?.state == .verified
    }
  }

  // MARK: Names

  private func put(
    _ parts: [WholePart], _ choice: Choice, _ capture: String
  ) throws -> [UploadOutcome] {
    if choice.takesJournal { return try journalPut(parts[0], choice) }
    let known = folder(choice.folder)
    var stored =
      known ?? StoredFolder(choice.folder, of: capture, at: parts[0].entry.received)
    let isOne = parts.count + choice.carried.count == 1
    var changes: [Change] = []
    var isNoted = choice.isNew || stored.isUnsynced
    let carried = try carriedEntries(choice)
    let held = try choice.isNew ? makeFolder(stored) : heldFolder(choice.folder)
    /// Notes a file that has its name now, or of one that was there what its sender has said.
    func enter(_ entry: UploadManifest.File, _ name: UploadName, _ place: Place) {
      let old = stored.file(entry.name)
      var new = entry
      if let old {
        if place == .same {
          new = old
          if entry.state == .verified { new.state = .verified }
        } else {
          new.replaced = old.replaced + 1
        }
      }
      let found = try? look(at: name, in: held)
      if let found { new.modified = found.modified }
      isNoted = isNoted || new != old
      stored.enter(new, found, isArrival: place != .same)
    }
    do {
      let places = choice.parts.map(\.place) + choice.carried.map(\.place)
      try stored.checkSpace(
        for: zip(parts.map(\.entry) + carried, places).filter { entry, place in
          place != .same || stored.index(of: entry.name) == nil
        }.map(\.0), limits)
      for (file, entry) in zip(choice.carried, carried) {
        try share(file.name, from: file.source, to: held, file.place, &changes)
        enter(entry, file.name, file.place)
      }
      for (part, (place, source)) in zip(parts, choice.parts) {
        if place != .same {
          try take(part, from: source, to: held, place, isSaved: !isOne, &changes)
        }
        enter(entry(of: part, from: source), part.name, place)
      }
    } catch {
      undo(changes, held, made: choice.isNew ? choice.folder : nil)
      throw error
    }
    // From here a single file has its name; whatever fails, the note of it is kept and written later.
    for part in parts {
      removePart(part.id)
      forget(part.id)
    }
    do {
      if isNoted { try settle(stored, held, parts.map(\.name) + choice.carried.map(\.name)) }
    } catch {
      guard !isOne else {
        removeSaved(changes)
        throw error
      }
      undo(changes, held, made: choice.isNew ? choice.folder : nil)
      state.withLock { state in
        state.forget(stored.name)
        guard var known else { return }
        known.isUnsynced = true
        state.put(known)
      }
      throw error
    }
    removeSaved(changes)
    return zip(parts, choice.parts).map { outcome($0, $1.place, $1.source, in: choice.folder) }
  }

  /// A new file of a large capture: nothing is copied that has as many entries as the capture has files.
  private func journalPut(_ part: WholePart, _ choice: Choice) throws -> [UploadOutcome] {
    let held = try heldFolder(choice.folder)
    var changes: [Change] = []
    let (place, source) = choice.parts[0]
    try take(part, from: source, to: held, place, isSaved: false, &changes)
    removePart(part.id)
    forget(part.id)
    var entry = entry(of: part, from: source)
    let found = try look(at: part.name, in: held)
    if let found { entry.modified = found.modified }
    try journal(entry, found, choice.folder, held, part.name)
    return [outcome(part, place, source, in: choice.folder)]
  }

  /// The note of a part; verified where the same content of another folder is.
  private func entry(of part: WholePart, from source: String?) -> UploadManifest.File {
    var entry = part.entry
    if source.flatMap(folder)?.file(entry.name)?.state == .verified { entry.state = .verified }
    return entry
  }

  /// Gives a part its name, or has the same content of another folder under it.
  private func take(
    _ part: WholePart, from source: String?, to held: HeldFolder, _ place: Place, isSaved: Bool,
    _ changes: inout [Change]
  ) throws {
    if let source { return try share(part.name, from: source, to: held, place, &changes) }
    try change(part.name, in: held, place, isSaved: isSaved, &changes) {
      (target) throws(FileError) in
      try files.rename(Self.part(part.id), in: incoming, to: target, as: part.name.parts.file)
    }
  }

  /// The upload no longer counts as on its way.
  private func forget(_ id: String) {
    state.withLock { $0.uploads[id] = nil }
  }

  /// The notes of carried files in the folders where they lie.
  private func carriedEntries(_ choice: Choice) throws -> [UploadManifest.File] {
    try choice.carried.map { name, _, source in
      guard let file = folder(source)?.file(name.name) else { throw Self.changed(name) }
      return file
    }
  }

  private static func changed(_ name: UploadName) -> UploadRefusal {
    UploadRefusal(.failed, "\(name.name) has changed on this server: send it again")
  }

  func heldFolder(_ name: String) throws -> HeldFolder {
    guard let held = try staging.folder(name) else {
      throw UploadRefusal(
        .failed, "the folder of the capture is gone on this server: send it again")
    }
    return held
  }

  /// Makes a folder of a capture. One that is not called like the capture has a manifest before it has a file: nothing
  /// else tells whose it is.
  func makeFolder(_ folder: StoredFolder) throws(FileError) -> HeldFolder {
    let held = try files.makeFolder(folder.name, in: staging)
    do throws(FileError) {
      try files.syncFolder(staging)
      if NameKey(folder.name) != NameKey(folder.manifest.capture) {
        try writeManifest(folder, held)
      }
    } catch {
      removeFolder(folder.name, held)
      throw error
    }
    return held
  }

  /// Removes a folder that was made, if it has no file.
  func removeFolder(_ name: String, _ held: HeldFolder) {
    guard let names = try? held.names(), names.allSatisfy({ $0 == UploadManifest.fileName }) else {
      return
    }
    try? files.remove(UploadManifest.fileName, in: held)
    try? files.removeFolder(name, in: staging)
  }

  /// Puts the content of a file of another folder into this one.
  private func share(
    _ name: UploadName, from source: String, to held: HeldFolder, _ place: Place,
    _ changes: inout [Change]
  ) throws {
    guard let folder = try staging.folder(source), let origin = try holder(of: name, in: folder)
    else { throw Self.changed(name) }
    let file = name.parts.file
    let beside = "\(Self.randomName()).new"
    let incoming = try partsFolder()
    // Also after a rename, which does nothing to two names of one file.
    defer { try? files.remove(beside, in: incoming) }
    try files.share(file, in: origin, to: incoming, as: beside)
    try change(name, in: held, place, isSaved: true, &changes) { (target) throws(FileError) in
      try files.rename(beside, in: incoming, to: target, as: file)
    }
  }

  /// Gives a file its name by `rename`, in a folder inside if the name has one.
  private func change(
    _ name: UploadName, in held: HeldFolder, _ place: Place, isSaved: Bool,
    _ changes: inout [Change], _ rename: (HeldFolder) throws(FileError) -> Void
  ) throws(FileError) {
    var target = held
    if let inner = name.parts.folder {
      let isNew = try held.folder(inner) == nil
      target = try files.makeFolder(inner, in: held)
      if isNew {
        do throws(FileError) {
          try files.syncFolder(held)
        } catch {
          try? files.removeFolder(inner, in: held)
          throw error
        }
      }
    }
    var saved: String?
    do throws(FileError) {
      if isSaved, place == .replaceable {
        let name = name.parts.file
        let beside = "\(Self.randomName()).new"
        try files.share(name, in: target, to: incoming, as: beside)
        saved = beside
      }
      try rename(target)
    } catch {
      if let saved { try? files.remove(saved, in: incoming) }
      if let inner = name.parts.folder { try? files.removeFolder(inner, in: held) }
      throw error
    }
    changes.append(Change(folder: target, name: name.parts.file, saved: saved))
  }

  /// Removes replaced content that was kept to be put back.
  private func removeSaved(_ changes: [Change]) {
    for saved in changes.compactMap(\.saved) { try? files.remove(saved, in: incoming) }
  }

  /// Takes names back, as far as that can be done, and the folder, where it was made for them.
  private func undo(_ changes: [Change], _ held: HeldFolder, made name: String? = nil) {
    for change in changes.reversed() {
      if let saved = change.saved {
        try? files.rename(saved, in: incoming, to: change.folder, as: change.name)
      } else {
        try? files.remove(change.name, in: change.folder)
      }
    }
    for (name, kind) in (try? held.list()) ?? [] where kind == .folder {
      try? files.removeFolder(name, in: held)
    }
    if let name { removeFolder(name, held) }
  }

  /// Puts files of other folders of the capture into one, and notes them.
  func carry(
    _ carried: [(name: String, from: StoredFolder)], to folder: inout StoredFolder,
    _ held: HeldFolder
  ) throws {
    var changes: [Change] = []
    do {
      for (text, source) in carried {
        guard let name = uploadName(of: text, in: folder.manifest.capture),
          var entry = source.file(text)
        else { throw UploadRefusal(.invalid, "'\(text)' is not the name of a file here") }
        try folder.checkSpace(for: [entry], limits)
        let isThere = try look(at: name, in: held) != nil
        try share(name, from: source.name, to: held, isThere ? .replaceable : .free, &changes)
        let found = try look(at: name, in: held)
        if let found { entry.modified = found.modified }
        folder.enter(entry, found)
      }
    } catch {
      undo(changes, held)
      throw error
    }
    removeSaved(changes)
  }

  private func outcome(
    _ part: WholePart, _ place: Place, _ source: String?, in folder: String
  ) -> UploadOutcome {
    let name = part.name
    let kind: UploadOutcome.Kind =
      if place == .same || source != nil {
        .identical
      } else if NameKey(folder) != NameKey(name.capture) {
        .keptBoth
      } else if place == .replaceable {
        .replaced
      } else {
        .stored
      }
    if kind == .keptBoth {
      log(
        "same id, other content: \(name.name) of \(name.capture) is kept in \(folder)")
    }
    return UploadOutcome(
      kind: kind, folder: folder, name: name.name, bytes: part.entry.bytes,
      sha256: part.entry.sha256)
  }
}
