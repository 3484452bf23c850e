import Captures
import Synchronization
import Storage

extension UploadStore {
  public enum VerifyAnswer: Sendable, Equatable {
    /// A stored version has this digest.
    case matches
    /// No stored version has it.
    case differs
    /// Nothing of that name was received, or it is being received.
    case unknown
  }

  /// Compares a digest with what was received, by the digests that are noted; a file that has changed
  /// on disk since is read once more. Nothing is ever deleted.
  ///
  /// - Parameters:
  ///   - names: what the name in the question may mean; the first that was received counts.
  ///   - md5: hex digits in any case.
  /// - Returns: the answer, and the name that was meant.
  public func verify(_ names: [String], md5: String) throws(UploadRefusal) -> (
    answer: VerifyAnswer, name: UploadName?
  ) {
    for text in names {
      guard let name = try? UploadName(fileName: text, endings: limits.endings) else { continue }
      do {
        let answer = try withCapture(name.capture) { try verify(name, md5.lowercased()) }
        if let answer { return (answer, name) }
      } catch {
        throw Self.refusal(error)
      }
    }
    return (.unknown, nil)
  }

  /// `nil` if nothing of that name was received.
  private func verify(_ name: UploadName, _ md5: String) throws -> VerifyAnswer? {
    if state.withLock({ $0.isActive(name) }) { return .unknown }
    var newest: (folder: StoredFolder, index: Int, held: HeldFolder)?
    var isKnown = false
    var isThere = false
    for var folder in state.withLock({ $0.versions(of: name.capture) }) {
      guard let index = folder.index(of: name.name),
        let held = try staging.folder(folder.name),
        let (file, inode) = try refreshed(folder, index, name, held)
      else { continue }
      isKnown = true
      let old = folder.manifest.files[index]
      if folder.inodes[NameKey(name.name)] != inode {
        folder.inodes[NameKey(name.name)] = inode
      }
      if file != old {
        folder.manifest.files[index] = file
        if file.sha256 != old.sha256 { folder.manifest.declared = false }
      }
      if file.md5 == md5 {
        isThere = true
        if file.state != .verified || folder.isUnsynced || file != old {
          folder.manifest.files[index].state = .verified
          try settle(folder, held, [name])
        }
      } else if file.state == .unverified,
        newest.map({ $0.folder.manifest.files[$0.index].received <= file.received }) ?? true
      {
        newest = (folder, index, held)
      }
    }
    if isThere { return .matches }
    guard isKnown else { return nil }
    if let (found, index, held) = newest {
      var folder = found
      folder.manifest.files[index].state = .mismatch
      try settle(folder, held, [name])
    }
    return .differs
  }

  /// Notes that a capture is to be processed without the settle time. `false` if nothing of it was
  /// received.
  public func requestProcessing(of capture: String) throws(UploadRefusal) -> Bool {
    do {
      return try withCapture(capture) {
        let folders = try versions(of: capture)
        for var folder in folders {
          guard let held = try staging.folder(folder.name) else { continue }
          folder.manifest.processRequested = UTCText.exact(nanoseconds: now())
          try settle(folder, held, [])
        }
        return !folders.isEmpty
      }
    } catch {
      throw Self.refusal(error)
    }
  }

  // MARK: Completion by the sender

  /// A file as its sender describes it.
  public struct Declared: Codable, Hashable, Sendable {
    public var name: String
    public var bytes: Int64?
    public var sha256: String?

    public init(name: String, bytes: Int64? = nil, sha256: String? = nil) {
      self.name = name
      self.bytes = bytes
      self.sha256 = sha256
    }
  }

  public struct Completion: Sendable, Equatable {
    /// Names that are not there, or are still on their way.
    public var missing: [String] = []
    /// Names whose content differs, or did not match what its sender asked for.
    public var different: [String] = []

    public var isComplete: Bool { missing.isEmpty && different.isEmpty }
  }

  /// Notes that a capture is complete as its sender says. What it lists must be on the disk, all of it in one folder;
  /// what lies in another folder of the capture with the digest that is listed is put there. A listed digest that
  /// matches makes a file verified. Throws `unknown` if nothing was received.
  ///
  /// - Parameter list: `nil` if the sender lists nothing: then the folder is meant into which it has sent last.
  public func complete(
    _ capture: String, _ list: [Declared]?, sender: String = ""
  ) throws(UploadRefusal) -> Completion {
    do {
      return try withCapture(capture) { try completed(capture, list, sender) }
    } catch {
      throw Self.refusal(error)
    }
  }

  private func completed(
    _ capture: String, _ list: [Declared]?, _ sender: String
  ) throws -> Completion {
    let folders = try state.withLock { $0.versions(of: capture) }.compactMap { try current($0) }
    let key = UploadSession.Key(capture, sender)
    let home = state.withLock { $0.sessions[key]?.home }
    guard let last = folders.max(by: { $0.manifest.lastArrival < $1.manifest.lastArrival }) else {
      throw UploadRefusal(.unknown, "nothing of \(capture) was received")
    }
    let own = folders.first { folder in home.map { NameKey($0) == NameKey(folder.name) } ?? false }
    guard let list, !list.isEmpty else { return try completed(own ?? last, [], [], sender) }
    // Of the folders that have as much the one into which this sender has sent comes first.
    let order = [own].compactMap(\.self) + folders.filter { $0.name != own?.name }
    var best = (folder: last, same: -1, other: 0)
    for folder in order {
      let missing = list.filter { match($0, folder) != .same }
      let sources = missing.map { declared in
        declared.sha256 == nil || match(declared, folder) == .other
          ? nil : order.first { match(declared, $0) == .same }
      }
      if !sources.contains(where: { $0 == nil }) {
        let carried = zip(missing, sources).compactMap { declared, source in
          source.map { (declared.name, $0) }
        }
        // One that needs nothing goes before one that gets something.
        if carried.isEmpty || !order.contains(where: { other in
          list.allSatisfy { match($0, other) == .same }
        }) {
          return try completed(folder, list, carried, sender)
        }
      }
      let same = list.count - missing.count
      let other = missing.count { match($0, folder) == .other }
      if (same, -other) > (best.same, -best.other) { best = (folder, same, other) }
    }
    var answer = Completion()
    let awaited = state.withLock { $0.awaited(by: best.folder) }
    answer.missing = Self.unique(
      awaited.sorted()
        + list.filter { match($0, best.folder) == .absent }.map(\.name))
    answer.different = Self.unique(
      list.filter { match($0, best.folder) == .other }.map(\.name))
    return answer
  }

  /// - Parameter carried: what lies in other folders and belongs into this one.
  private func completed(
    _ folder: StoredFolder, _ list: [Declared], _ carried: [(name: String, from: StoredFolder)],
    _ sender: String
  ) throws -> Completion {
    var folder = folder
    var answer = Completion()
    answer.missing = Self.unique(state.withLock { $0.awaited(by: folder) }.sorted())
    let listed = Set(list.filter { $0.sha256 != nil }.map { NameKey($0.name) })
    answer.different = folder.manifest.files.filter {
      $0.state == .mismatch && !listed.contains(NameKey($0.name))
    }.map(\.name)
    guard answer.isComplete, let held = try staging.folder(folder.name) else { return answer }
    try carry(carried, to: &folder, held)
    var manifest = folder.manifest
    for index in manifest.files.indices where listed.contains(NameKey(manifest.files[index].name)) {
      manifest.files[index].state = .verified
    }
    manifest.declared = true
    folder.manifest = manifest
    removeSuperseded(in: folder, by: sender)
    try settle(folder, held, carried.compactMap { uploadName(of: $0.name, in: manifest.capture) })
    // What comes now is of another scan.
    state.withLock { $0.sessions[UploadSession.Key(manifest.capture, sender)] = nil }
    return answer
  }

  private enum Match {
    case same, absent, other
  }

  private func match(_ declared: Declared, _ folder: StoredFolder) -> Match {
    guard let index = folder.index(of: declared.name) else { return .absent }
    let file = folder.manifest.files[index]
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
