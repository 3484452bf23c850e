import Captures
import Core
import Synchronization
import SystemPackage

extension UploadStore {
  /// What a folder has under a name, compared with content that comes.
  enum Place: Equatable {
    case free
    /// The content is the same, on the disk too.
    case same
    /// Other content that may be replaced.
    case replaceable
    /// Other content that its sender has verified.
    case taken
  }

  /// Where parts go.
  struct Choice {
    var folder: String
    /// Whether the folder is to be made.
    var isNew: Bool
    /// What the folder has under the name of each part, and another folder that has the same content already.
    var parts: [(place: Place, source: String?)]
    /// Folders that have other content that stays.
    var excluded: [String] = []
    /// Files of the same session that have to be put into the folder, and where they lie.
    var carried: [(name: UploadName, place: Place, source: String)]
    /// Whether the file is noted in the journal only.
    var takesJournal = false
  }

  /// The folder into which parts of one capture go: that of their session, else the one of its versions that has most of the
  /// session and nothing verified that differs, else a new one.
  func choose(_ parts: [WholePart], _ session: UploadSession) throws -> Choice {
    let capture = parts[0].name.capture
    var versions = try self.versions(of: capture)
    let time = parts[0].entry.received
    if folder(capture) == nil, try !isOtherName(capture, staging) {
      // The folder may be absent, or hold files that did not come through the receiver.
      versions.insert(StoredFolder(capture, of: capture, at: time), at: 0)
    }
    if let home = try home(of: parts, session, versions) { return home }
    let names = Set(parts.map { NameKey($0.name.name) })
    let others: [(name: UploadName, sha256: String)] = session.files.compactMap { name, sha256 in
      names.contains(name) ? nil : uploadName(of: name.text, in: capture).map { ($0, sha256) }
    }.sorted { $0.name.name < $1.name.name }
    func otherPlaces(_ folder: StoredFolder) throws -> [Place] {
      try others.map { try place($0.name, $0.sha256, in: folder, session, isRead: false) }
    }
    var best: (index: Int, same: Int, replaced: Int, others: [Place])?
    var excluded: [String] = []
    let found = try versions.map { try self.places(of: parts, in: $0, session) }
    for (index, folder) in versions.enumerated() {
      let others = try otherPlaces(folder)
      let all = found[index] + others
      guard !all.contains(.taken) else {
        excluded.append(folder.name)
        continue
      }
      // The folder with most equal files is chosen, then the one in which fewest are replaced.
      let same = all.count { $0 == .same }
      let replaced = same == 0 ? 0 : all.count { $0 == .replaceable }
      if best.map({ (same, -replaced) > ($0.same, -$0.replaced) }) ?? true {
        best = (index, same, replaced, others)
      }
    }
    let folder =
      try best.map { versions[$0.index] }
      ?? StoredFolder(try freeName(capture), of: capture, at: time)
    let places = best.map { found[$0.index] } ?? parts.map { _ in .free }
    let carried = try zip(others, best?.others ?? others.map { _ in .free }).compactMap {
      other, place -> (name: UploadName, place: Place, source: String)? in
      guard place != .same,
        let source = try versions.first(where: {
          try $0.index(of: other.name.name) != nil
            && self.place(other.name, other.sha256, in: $0, session, isRead: false) == .same
        })
      else { return nil }
      return (other.name, place, source.name)
    }
    return Choice(
      folder: folder.name, isNew: try best == nil || staging.entry(folder.name) == nil,
      parts: places.enumerated().map { part, place in
        let source = found.indices.first { place != .same && found[$0][part] == .same }
        return (place, source.map { versions[$0].name })
      },
      excluded: excluded, carried: carried,
      takesJournal: carried.isEmpty && takesJournal(parts, folder, places))
  }

  /// The folder in which the session lies; `nil` if there is none, if a part cannot be there, or if a new part is
  /// already in another folder that may be that of the session.
  private func home(
    of parts: [WholePart], _ session: UploadSession, _ versions: [StoredFolder]
  ) throws -> Choice? {
    guard let name = session.home,
      let home = versions.first(where: { NameKey($0.name) == NameKey(name) })
    else { return nil }
    let found = try places(of: parts, in: home, session)
    let fits = zip(parts, found).allSatisfy { part, place in
      place == .same
        || place != .taken
          && !versions.contains { !session.excluded.contains(NameKey($0.name)) && has(part, $0) }
    }
    guard fits else { return nil }
    return Choice(
      folder: home.name, isNew: try staging.entry(home.name) == nil,
      parts: try zip(parts, found).map { part, place in
        let source = try versions.first {
          try place != .same && has(part, $0)
            && self.place(part.name, part.entry.sha256, in: $0, session, isRead: true) == .same
        }
        return (place, source?.name)
      },
      carried: [], takesJournal: takesJournal(parts, home, found))
  }

  private func places(
    of parts: [WholePart], in folder: StoredFolder, _ session: UploadSession
  ) throws -> [Place] {
    try parts.map { try place($0.name, $0.entry.sha256, in: folder, session, isRead: true) }
  }

  /// Whether a single new file goes into the journal of a folder.
  private func takesJournal(
    _ parts: [WholePart], _ folder: StoredFolder, _ places: [Place]
  ) -> Bool {
    places == [.free] && folder.takesJournal && folder.index(of: parts[0].name.name) == nil
  }

  /// Whether the notes say that a folder has the content of a part.
  private func has(_ part: WholePart, _ folder: StoredFolder) -> Bool {
    folder.file(part.name.name)?.sha256 == part.entry.sha256
  }

  /// The first of `<id>~2`, `<id>~3`, … that is nothing at all.
  func freeName(_ capture: String) throws -> String {
    for number in 1...Self.mostVersions {
      let name = Self.folderName(capture, number)
      if folder(name) == nil,
        try number == 1 ? !isOtherName(name, staging) : isNothing(name)
      {
        return name
      }
    }
    throw UploadRefusal(.conflict, "there are too many versions of \(capture) already")
  }

  /// Whether what stands under a name has another one, which the disk does not tell from it, as disks that ignore case.
  /// Cost: a listing where something stands there.
  private func isOtherName(_ name: String, _ folder: HeldFolder) throws -> Bool {
    guard try folder.entry(name) != nil else { return false }
    return try !folder.names().contains { NameKey($0) == NameKey(name) }
  }

  private func isOtherName(_ name: UploadName, _ folder: HeldFolder) throws -> Bool {
    let (inner, file) = name.parts
    guard let inner else { return try isOtherName(file, folder) }
    return try isOtherName(inner, folder)
      || folder.folder(inner).map { try isOtherName(file, $0) } ?? false
  }

  /// Whether a folder is not there, or has nothing in it, as one that a killed receiver has made.
  private func isNothing(_ name: String) throws -> Bool {
    guard try staging.entry(name)?.kind ?? .folder == .folder else { return false }
    return try staging.folder(name)?.names(atMost: 1).isEmpty ?? true
  }

  /// Versions of a capture are numbered with three digits at most (`UploadName.mostIDBytes`).
  private static let mostVersions = 999

  /// - Parameter isRead: whether the file is read also where nothing tells that it has changed.
  private func place(
    _ name: UploadName, _ sha256: String, in folder: StoredFolder, _ session: UploadSession,
    isRead: Bool
  ) throws -> Place {
    guard let held = try staging.folder(folder.name), let found = try look(at: name, in: held)
    else { return .free }
    guard found.kind == .file else {
      throw UploadRefusal(
        .conflict, "something that is not a file is in the place of \(name.name) on this server")
    }
    let file = folder.file(name.name)
    if try file == nil && isOtherName(name, held) {
      throw UploadRefusal(
        .conflict,
        "the disk of this server takes \(name.name) for another file of \(name.capture): it does not tell names "
          + "apart by case")
    }
    if let file, file.sha256 != sha256, file.state != .verified { return .replaceable }
    func isThere(_ wanted: String) throws -> Bool {
      if let file, !isRead, isAsNoted(file, found, folder.inodes[NameKey(file.name)]) {
        return file.sha256 == wanted
      }
      return try digests(of: name, in: held)?.sha256 == wanted
    }
    guard let file, file.sha256 != sha256 else {
      return try isThere(sha256) ? .same : .replaceable
    }
    guard try isThere(file.sha256) else { return .replaceable }
    // A carried file also lies in its first folder, unless that copy changed or was not verified.
    let isCarried =
      session.carried.contains(NameKey(name.name))
      && session.home.map { NameKey($0) == NameKey(folder.name) } ?? false
    return try isCarried && lies(name, file.sha256, outside: folder.name) ? .replaceable : .taken
  }

  /// Whether another folder of the capture has the same verified content.
  private func lies(
    _ name: UploadName, _ sha256: String, outside folder: String
  ) throws -> Bool {
    try state.withLock { $0.versions(of: name.capture) }.contains { other in
      guard NameKey(other.name) != NameKey(folder), let file = other.file(name.name),
        file.sha256 == sha256, file.state == .verified,
        let found = try staging.folder(other.name).flatMap({ try look(at: name, in: $0) })
      else { return false }
      return isAsNoted(file, found, other.inodes[NameKey(name.name)])
    }
  }
}
