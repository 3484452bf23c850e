import Captures
import Synchronization
import Core

extension UploadStore {
  /// How content that a sender describes compares with what is stored under its name.
  enum Match: Equatable {
    case same
    /// Nothing of that name was received, or it is being received.
    case absent
    case other
  }

  /// Compares a digest with what was received, by the digests that are noted; a file that has changed
  /// on disk since is read once more. Nothing is ever deleted.
  ///
  /// - Parameters:
  ///   - names: what the name in the question may mean; the first that was received counts.
  ///   - md5: hex digits in any case.
  /// - Returns: the answer, and the name that was meant.
  func verify(
    _ names: [String], md5: String
  ) throws(UploadRefusal) -> (answer: Match, name: UploadName?) {
    for text in names {
      guard let name = try? UploadName(fileName: text, endings: limits.endings) else { continue }
      let answer = try Self.refusing {
        try withCapture(name.capture) { try verify(name, md5.lowercased()) }
      }
      if let answer { return (answer, name) }
    }
    return (.absent, nil)
  }

  /// `nil` if nothing of that name was received.
  private func verify(_ name: UploadName, _ md5: String) throws -> Match? {
    if state.withLock({ $0.isActive(name) }) { return .absent }
    var newest:
      (folder: StoredFolder, file: UploadManifest.File, found: FileStatus, held: HeldFolder)?
    var isKnown = false
    var isThere = false
    for var folder in state.withLock({ $0.versions(of: name.capture) }) {
      guard let old = folder.file(name.name), let held = try staging.folder(folder.name),
        let now = try refreshed(old, folder.inodes[NameKey(name.name)], name, held)
      else { continue }
      var file = now.file
      isKnown = true
      if file.sha256 != old.sha256 { folder.manifest.declared = false }
      if file.md5 == md5 {
        isThere = true
        file.state = .verified
        if folder.isUnsynced || file != old {
          folder.enter(file, now.found)
          try settle(folder, held, [name])
        }
      } else if file.state == .unverified, newest.map({ $0.file.received <= file.received }) ?? true
      {
        file.state = .mismatch
        newest = (folder, file, now.found, held)
      }
    }
    if isThere { return .same }
    guard isKnown else { return nil }
    if var newest {
      newest.folder.enter(newest.file, newest.found)
      try settle(newest.folder, newest.held, [name])
    }
    return .other
  }

  /// Notes that a capture is to be processed without the settle time. `false` if nothing of it was
  /// received.
  func requestProcessing(of capture: String) throws(UploadRefusal) -> Bool {
    try Self.refusing {
      try withCapture(capture) {
        let folders = try versions(of: capture)
        for var folder in folders {
          guard let held = try staging.folder(folder.name) else { continue }
          folder.manifest.processRequested = time
          try settle(folder, held, [])
        }
        return !folders.isEmpty
      }
    }
  }

  // MARK: Completion by the sender

  /// A file as its sender describes it.
  public struct Declared: Codable, Hashable, Sendable {
    public var name: String
    public var bytes: Int64?
    public var sha256: String?
  }

  struct Completion: Equatable {
    /// Names that are not there, or are still on their way.
    var missing: [String] = []
    /// Names whose content differs, or did not match what its sender asked for.
    var different: [String] = []

    var isComplete: Bool { missing.isEmpty && different.isEmpty }
  }

  /// Notes that a capture is complete as its sender says. What it lists must be on the disk, all of it in one folder;
  /// what lies in another folder of the capture with the digest that is listed is put there. A listed digest that
  /// matches makes a file verified. Throws `unknown` if nothing was received.
  ///
  /// - Parameter list: `nil` if the sender lists nothing: then the folder is meant into which it has sent last.
  func complete(
    _ capture: String, _ list: [Declared]?, sender: String = ""
  ) throws(UploadRefusal) -> Completion {
    try Self.refusing { try withCapture(capture) { try completed(capture, list, sender) } }
  }

  private func completed(
    _ capture: String, _ list: [Declared]?, _ sender: String
  ) throws -> Completion {
    let folders = try state.withLock { $0.versions(of: capture) }.compactMap { try current($0) }
      .filter { !$0.folder.manifest.files.isEmpty }
    let session = state.withLock { $0.sessions[UploadSession.Key(capture, sender)] }
    guard
      let last = folders.max(by: {
        $0.folder.manifest.lastArrival < $1.folder.manifest.lastArrival
      })
    else { throw UploadRefusal(.unknown, "nothing of \(capture) was received") }
    let own = folders.first { looked in
      session?.home.map { NameKey($0) == NameKey(looked.folder.name) } ?? false
    }
    guard let list, !list.isEmpty else {
      // Without a list, the noted files and those of the sender's session are declared.
      var known = (own ?? last).folder.manifest.files.map { Declared(name: $0.name) }
      if own != nil, let session {
        known += session.files.map { Declared(name: $0.key.text, sha256: $0.value) }
      }
      return try completed(own ?? last, known, [], sender, isListed: false)
    }
    // The folder into which this sender has sent comes first of those that have as much.
    let order = [own].compactMap(\.self) + folders.filter { $0.folder.name != own?.folder.name }
    if let whole = order.first(where: { looked in
      list.allSatisfy { match($0, looked) == .same }
    }) {
      return try completed(whole, list, [], sender)
    }
    var best = (looked: last, same: -1, other: 0)
    for looked in order {
      let lacking = list.filter { match($0, looked) != .same }
      let carried = lacking.compactMap { declared -> (name: String, from: StoredFolder)? in
        guard declared.sha256 != nil, match(declared, looked) == .absent else { return nil }
        return order.first { match(declared, $0) == .same }.map { (declared.name, $0.folder) }
      }
      if carried.count == lacking.count { return try completed(looked, list, carried, sender) }
      let same = list.count - lacking.count
      let other = lacking.count { match($0, looked) == .other }
      if (same, -other) > (best.same, -best.other) { best = (looked, same, other) }
    }
    // Each is there, and no folder can have all of them: the list says that they are one scan.
    let sources = list.compactMap { declared in
      declared.sha256 == nil
        ? nil
        : order.first { match(declared, $0) == .same }.map { (declared.name, $0.folder) }
    }
    guard sources.count == list.count, Self.unique(list.map(\.name)).count == list.count else {
      return lacking(best.looked, list)
    }
    let new = StoredFolder(try freeName(capture), of: capture, at: time)
    let held = try makeFolder(new)
    defer { removeFolder(new.name, held) }
    return try completed(Looked(folder: new), list, sources, sender)
  }

  /// What a folder has not, or not so, and what is on its way to it.
  private func lacking(
    _ looked: Looked, _ list: [Declared], carrying names: Set<NameKey> = []
  ) -> Completion {
    let awaited = state.withLock {
      $0.awaited(by: looked.folder, having: names, lacking: looked.gone)
    }.sorted()
    let list = list.filter { !names.contains(NameKey($0.name)) }
    return Completion(
      missing: Self.unique(awaited + list.filter { match($0, looked) == .absent }.map(\.name)),
      different: Self.unique(list.filter { match($0, looked) == .other }.map(\.name)))
  }

  /// - Parameters:
  ///   - carried: what lies in other folders and belongs into this one.
  ///   - isListed: whether the sender has told the digests of the list now.
  private func completed(
    _ looked: Looked, _ list: [Declared], _ carried: [(name: String, from: StoredFolder)],
    _ sender: String, isListed: Bool = true
  ) throws -> Completion {
    var answer = lacking(looked, list, carrying: Set(carried.map { NameKey($0.name) }))
    let told = Set(list.filter { isListed && $0.sha256 != nil }.map { NameKey($0.name) })
    var folder = looked.folder
    answer.different = Self.unique(
      answer.different
        + folder.manifest.files.filter {
          $0.state == .mismatch && !told.contains(NameKey($0.name))
        }.map(\.name))
    guard answer.isComplete else { return answer }
    let held = try heldFolder(folder.name)
    // Files that are gone are not listed, or they are carried here.
    if !looked.gone.isEmpty {
      folder.manifest.files.removeAll { looked.gone.contains(NameKey($0.name)) }
    }
    try carry(carried, to: &folder, held)
    var manifest = folder.manifest
    for index in manifest.files.indices where told.contains(NameKey(manifest.files[index].name)) {
      manifest.files[index].state = .verified
    }
    manifest.declared = true
    folder.manifest = manifest
    removeSuperseded(in: folder, by: sender)
    try settle(folder, held, carried.compactMap { uploadName(of: $0.name, in: manifest.capture) })
    // Files that come after the declaration belong to another scan.
    state.withLock { $0.sessions[UploadSession.Key(manifest.capture, sender)] = nil }
    return answer
  }

  private func match(_ declared: Declared, _ looked: Looked) -> Match {
    guard let file = looked.folder.file(declared.name),
      !looked.gone.contains(NameKey(declared.name))
    else { return .absent }
    let isSame =
      declared.sha256.map { $0.lowercased() == file.sha256 } ?? true
      && declared.bytes.map { $0 == file.bytes } ?? true
    return isSame ? .same : .other
  }

  private static func unique(_ names: [String]) -> [String] {
    var seen: Set<NameKey> = []
    return names.filter { seen.insert(NameKey($0)).inserted }
  }
}
