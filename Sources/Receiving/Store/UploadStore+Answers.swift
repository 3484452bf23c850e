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
    if state.withLock({ $0.isOnItsWay(name.capture, name.name) }) { return .unknown }
    var newest: (folder: StoredFolder, index: Int, held: HeldFolder)?
    var isKnown = false
    for var folder in state.withLock({ $0.versions(of: name.capture) }) {
      guard let index = folder.index(of: name.name),
        let held = try staging.folder(folder.name),
        let file = try refreshed(folder.manifest.files[index], name, held)
      else { continue }
      isKnown = true
      let isChanged = file != folder.manifest.files[index]
      folder.manifest.files[index] = file
      if file.md5 == md5 {
        if file.state != .verified || folder.isUnsynced || isChanged {
          folder.manifest.files[index].state = .verified
          try settle(folder, held, [name])
        }
        return .matches
      }
      if file.state == .unverified,
        newest.map({ $0.folder.manifest.files[$0.index].received <= file.received }) ?? true
      {
        newest = (folder, index, held)
      }
    }
    guard isKnown else { return nil }
    if let (found, index, held) = newest {
      var folder = found
      folder.manifest.files[index].state = .mismatch
      try settle(folder, held, [name])
    }
    return .differs
  }

  /// The note of a file as it is now on disk: read again if it has changed; `nil` if it is gone.
  private func refreshed(
    _ file: UploadManifest.File, _ name: UploadName, _ held: HeldFolder
  ) throws(FileError) -> UploadManifest.File? {
    guard let found = try look(at: name, in: held), found.kind == .file else { return nil }
    let modified = UTCText.exact(nanoseconds: found.modifiedNanoseconds)
    if found.bytes == file.bytes, modified == file.modified { return file }
    guard let digests = try digests(of: name, in: held) else { return nil }
    var new = file
    new.modified = modified
    guard digests.sha256 != file.sha256 else { return new }
    new.md5 = digests.md5
    new.sha256 = digests.sha256
    new.bytes = found.bytes
    new.state = .unverified
    return new
  }

  /// Notes that a capture is to be processed without the settle time. `false` if nothing of it was
  /// received.
  public func requestProcessing(of capture: String) throws(UploadRefusal) -> Bool {
    do {
      return try withCapture(capture) {
        let folders = state.withLock { $0.versions(of: capture) }
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

  /// Notes that a capture is complete as its sender says. What it lists must be there; a listed digest
  /// that matches makes a file verified. Throws `unknown` if nothing was received.
  ///
  /// - Parameter list: `nil` if the sender lists nothing.
  public func complete(_ capture: String, _ list: [Declared]?) throws(UploadRefusal) -> Completion {
    do {
      return try withCapture(capture) { try completed(capture, list) }
    } catch {
      throw Self.refusal(error)
    }
  }

  private func completed(_ capture: String, _ list: [Declared]?) throws -> Completion {
    var folders = state.withLock { $0.versions(of: capture) }
    guard !folders.isEmpty else {
      throw UploadRefusal(.unknown, "nothing of \(capture) was received")
    }
    var answer = Completion()
    answer.missing = state.withLock { state in
      state.active.values.filter { NameKey($0.name.capture) == NameKey(capture) }.map(\.name.name)
        + state.suspended.values.filter { NameKey($0.name.capture) == NameKey(capture) }
        .map(\.name.name)
    }.sorted()
    var concerned = list == nil ? Set(folders.indices) : []
    var manifests = folders.map(\.manifest)
    var missing = Set(answer.missing.map(NameKey.init))
    for declared in list ?? [] {
      var isThere = false
      var isSame = false
      for (number, folder) in folders.enumerated() {
        guard let index = folder.index(of: declared.name) else { continue }
        let file = manifests[number].files[index]
        isThere = true
        let hasDigest = declared.sha256.map { $0.lowercased() == file.sha256 }
        guard hasDigest ?? true, declared.bytes.map({ $0 == file.bytes }) ?? true else { continue }
        isSame = true
        concerned.insert(number)
        if hasDigest == true { manifests[number].files[index].state = .verified }
        break
      }
      if !isThere, missing.insert(NameKey(declared.name)).inserted {
        answer.missing.append(declared.name)
      }
      if isThere, !isSame { answer.different.append(declared.name) }
    }
    for number in concerned.sorted() {
      for file in manifests[number].files
      where file.state == .mismatch && !answer.different.contains(file.name) {
        answer.different.append(file.name)
      }
    }
    guard answer.isComplete else { return answer }
    for number in concerned.sorted() {
      guard let held = try staging.folder(folders[number].name) else { continue }
      manifests[number].declared = true
      folders[number].manifest = manifests[number]
      try settle(folders[number], held, [])
    }
    return answer
  }
}
