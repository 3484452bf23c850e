import Captures
import Core
import Synchronization
import SystemPackage

extension UploadStore {
  /// Removes parts that cannot be resumed, and what else a killed receiver has left. Throws where that stays unknown.
  func sweep() throws(FileError) {
    let names = try incoming.names()
    var kept: Set<String> = []
    for name in names where name.hasSuffix(".json") {
      let id = String(name.dropLast(".json".count))
      guard let part = try incoming.entry(Self.part(id))?.fileStamp,
        let bytes = try notes(name),
        let record = IncomingRecord(bytes), let resumable = record.resumable,
        let expires = UTCText.nanoseconds(resumable.expires), expires > now(),
        let upload = try? UploadName(
          capture: record.capture, path: record.name, endings: limits.endings)
      else { continue }
      // What the disk holds counts, less the piece that was not checked.
      let size = min(part.bytes, resumable.uncheckedFrom ?? .max)
      kept.formUnion([name, Self.part(id)])
      state.withLock {
        $0.suspended[id] = SuspendedUpload(
          name: upload, record: record, expires: expires, bytes: size, digests: nil)
      }
    }
    for name in names where !kept.contains(name) {
      try files.remove(name, in: incoming)
      log("removed what an interrupted upload has left: \(name)")
    }
  }

  /// The notes about a part; `nil`: they are none of ours.
  private func notes(_ name: String) throws(FileError) -> [UInt8]? {
    do throws(FileError) {
      return try incoming.contents(of: name, limit: IncomingRecord.mostBytes)
    } catch {
      if error.leavesUnknown { throw error }
      return nil
    }
  }

  /// Reads the manifests and brings them in line with the files that are there: what is not there is
  /// dropped. What is there and not noted is left to `enterUnlisted`.
  func load() throws(FileError) {
    for (name, kind) in try staging.list() where kind == .folder && UploadName.isAcceptable(name) {
      let held: HeldFolder?
      do throws(FileError) {
        held = try staging.folder(name)
      } catch {
        log("\(name): nothing is known of it: \(error)")
        continue
      }
      guard let held, let manifest = UploadManifest(withoutJournalIn: held) else { continue }
      var current = manifest
      let journal = journal(in: held, of: name)
      if let journal { current.add(journal) }
      var inodes: [NameKey: UInt64] = [:]
      current.files.removeAll { file in
        if let upload = uploadName(of: file.name, in: manifest.capture) {
          do throws(FileError) {
            if let found = try look(at: upload, in: held), found.kind == .file {
              if isAsNoted(file, found, nil) { inodes[NameKey(file.name)] = found.inode }
              return false
            }
          } catch {
            // A folder that cannot be examined is not taken for removed.
            log("\(name): \(error)")
            return false
          }
        }
        log("\(name): \(file.name) is noted and not there: dropped from the manifest")
        current.declared = false
        return true
      }
      var folder = StoredFolder(name: name, manifest: current)
      folder.inodes = inodes
      folder.hasJournal = journal != nil
      folder.isUnsynced = journal != nil || current != manifest
      state.withLock { $0.put(folder) }
    }
    let captures = state.withLock { Set($0.folders.values.map { NameKey($0.manifest.capture) }) }
    for capture in captures { withCapture(capture.text) { rejudge(capture.text) } }
  }

  /// A name that a manifest or a folder tells; `nil` if it is not acceptable.
  func uploadName(of name: String, in capture: String) -> UploadName? {
    try? UploadName(capture: capture, path: name, endings: limits.endings)
  }

  /// Notes files that came in another way, and files that have changed since they were noted: each is
  /// read once. Takes long where there are many; the store can be used meanwhile.
  ///
  /// - Parameter most: how many bytes are read; what does not fit is left out.
  /// - Returns: the number of files that were entered.
  @discardableResult
  public func enterUnlisted(
    reading most: Int64 = .max, isCancelled: () -> Bool = { false }
  ) -> Int {
    var count = 0
    var left = most
    for (name, kind) in listed(staging) where kind == .folder && UploadName.isAcceptable(name) {
      if isCancelled() { return count }
      let capture = state.withLock { $0.folders[NameKey(name)]?.manifest.capture ?? name }
      let (entered, read) = withCapture(capture) {
        enterUnlisted(folder: name, of: capture, reading: left, isCancelled)
      }
      count += entered
      left -= read
    }
    return count
  }

  /// What is in a folder; nothing, with a word in the log, if it cannot be listed.
  private func listed(_ folder: HeldFolder) -> [(name: String, kind: FileStatus.Kind)] {
    do throws(FileError) {
      return try folder.list()
    } catch {
      log("files that came in another way are not entered: \(error)")
      return []
    }
  }

  private func enterUnlisted(
    folder name: String, of capture: String, reading most: Int64, _ isCancelled: () -> Bool
  ) -> (count: Int, read: Int64) {
    guard let held = try? staging.folder(name) else { return (0, 0) }
    let time = UTCText.exact(nanoseconds: now())
    let known = state.withLock { $0.folders[NameKey(name)] }
    var folder =
      known ?? StoredFolder(name: name, manifest: UploadManifest(capture: capture, at: time))
    var manifest = folder.manifest
    var count = 0
    var read: Int64 = 0
    var entryBytes = folder.entryBytes
    var tooMany = 0
    var inodes: [NameKey: UInt64] = [:]
    var names = listed(held).filter { $0.kind == .file }.map(\.name)
    // One level of folders, where the manifest knows that there is one.
    names += manifest.files.map(\.name).filter { $0.utf8.contains(UInt8(ascii: "/")) }
    for file in names {
      if isCancelled() { break }
      guard let upload = uploadName(of: file, in: capture),
        let found = try? look(at: upload, in: held), found.kind == .file
      else { continue }
      let modified = UTCText.exact(nanoseconds: found.modifiedNanoseconds)
      let index = folder.index(of: file)
      if let index, isAsNoted(manifest.files[index], found, folder.inodes[NameKey(file)]) {
        continue
      }
      guard found.bytes <= most - read,
        let digests = try? digests(of: upload, in: held)
      else { continue }
      read += found.bytes
      var entry = UploadManifest.File(
        name: file, bytes: found.bytes, md5: digests.md5, sha256: digests.sha256, received: time,
        state: .unverified, replaced: 0, sender: "found in the folder", userAgent: "",
        modified: modified)
      if let index {
        let old = manifest.files[index]
        entry.replaced = old.replaced
        if old.sha256 == entry.sha256 {
          entry = old
          entry.modified = modified
        } else {
          // What its sender has said of the capture was said of other content.
          entry.replaced += 1
          entry.state = Self.state(ofChanged: old)
          manifest.declared = false
        }
        manifest.files[index] = entry
        inodes[NameKey(file)] = found.inode
      } else if entryBytes + entry.encodedBytes > limits.entries {
        tooMany += 1
        continue
      } else {
        entryBytes += entry.encodedBytes
        manifest.files.append(entry)
        inodes[NameKey(file)] = found.inode
      }
      count += 1
    }
    if tooMany > 0 {
      log(
        "\(name): \(Plural.text(tooMany, "file")) left out of its manifest, which would be too long to be read"
      )
    }
    guard count > 0 else { return (0, read) }
    folder.manifest = manifest
    folder.inodes.merge(inodes) { $1 }
    do throws(FileError) {
      try settle(folder, held, [])
      log("\(name): \(Plural.text(count, "file")) entered that came in another way or have changed")
    } catch {
      log("the manifest of \(name) is not up to date: \(error)")
    }
    return (count, read)
  }

  // MARK: Uploads that can be resumed

  /// What is known of an upload that can be resumed and is not over; `nil` for any other.
  func resumable(_ id: String) -> ResumableState? {
    state.withLock { state in
      if let upload = state.active[id], let record = upload.record {
        return ResumableState(
          name: upload.name, expected: upload.expected, received: upload.progress.received,
          metadata: record.metadata, expires: UTCText.nanoseconds(record.expires) ?? 0)
      }
      guard let upload = state.suspended[id] else { return nil }
      return ResumableState(
        name: upload.name, expected: upload.record.expected, received: upload.bytes,
        metadata: upload.record.resumable?.metadata ?? "", expires: upload.expires)
    }
  }

  private static func bytes(of file: FileDescriptor, at path: FilePath) throws(FileError) -> Int64 {
    do throws(Errno) {
      return try FileStatus(file).bytes
    } catch {
      throw FileError(error, path: path, operation: "look at")
    }
  }

  /// Takes a suspended upload up again, at the offset where it ended. Throws `unknown` for an upload
  /// that does not exist, `conflict` for one that is being received. After a new start of the
  /// program the part is read once, for its digests.
  func resume(_ id: String) throws(UploadRefusal) -> IncomingFile {
    let progress = ReceivedBytes()
    let (found, isActive) = state.withLock { state -> (SuspendedUpload?, Bool) in
      guard !state.isClosed, let found = state.suspended.removeValue(forKey: id) else {
        return (nil, state.active[id] != nil)
      }
      progress.received = found.bytes
      state.active[id] = ActiveUpload(
        name: found.name, expected: found.record.expected, started: now(),
        sender: found.record.sender, progress: progress, record: found.record.resumable)
      return (found, false)
    }
    guard let found else {
      if isActive { throw UploadRefusal(.conflict, "this upload is being received already") }
      throw UploadRefusal(.unknown, "no such upload")
    }
    let name = Self.part(id)
    let path = incoming.path.appending(name)
    var record = found.record
    do throws(FileError) {
      let file = try files.reopen(name, in: incoming)
      do throws(FileError) {
        if try Self.bytes(of: file, at: path) > found.bytes {
          try files.truncate(file, to: found.bytes, at: path)
        }
        record.resumable?.uncheckedFrom = nil
        var digests = found.digests
        if digests == nil, let reader = try incoming.openFile(name) {
          defer { try? reader.close() }
          digests = try Self.digests(of: reader, at: path)
        }
        try note(record, as: id, durably: true)
        return IncomingFile(
          id: id,
          request: UploadRequest(
            name: found.name, length: record.expected, sender: record.sender,
            userAgent: record.userAgent, sha256: record.resumable?.sha256,
            resumableMetadata: record.resumable?.metadata),
          store: self, path: path, progress: progress,
          state: IncomingFile.State(
            file: file, received: found.bytes, digests: digests ?? RunningDigests(), mark: nil,
            record: record, notedAt: now(), syncedTo: found.bytes))
      } catch {
        try? files.close(file, at: path)
        throw error
      }
    } catch {
      let isGone = error.kind == .notFound
      state.withLock {
        $0.active[id] = nil
        $0.suspended[id] = isGone ? nil : found
      }
      if isGone { throw UploadRefusal(.unknown, "no such upload") }
      throw Self.refusal(error)
    }
  }

  /// Removes an upload that can be resumed. Throws as `resume` does.
  func terminate(_ id: String) throws(UploadRefusal) {
    let (found, isActive) = state.withLock {
      ($0.suspended.removeValue(forKey: id), $0.active[id] != nil)
    }
    guard let found else {
      if isActive { throw UploadRefusal(.conflict, "this upload is being received already") }
      throw UploadRefusal(.unknown, "no such upload")
    }
    removePart(id)
    ended(id, of: found.name.capture, suspended: nil)
  }

  /// Removes uploads that were not resumed in time. To be called now and then.
  public func removeExpired() {
    let time = now()
    state.withLock { state in state.sessions = state.sessions.filter { !$0.value.isOver(at: time) }
    }
    let expired = state.withLock { $0.suspended.filter { $0.value.expires <= time }.map(\.key) }
    for id in expired {
      do throws(UploadRefusal) {
        try terminate(id)
        log("removed an upload that nobody has resumed: \(id)")
      } catch {
        // The sender has resumed the upload at this moment.
      }
    }
  }
}

/// An upload that can be resumed.
struct ResumableState {
  var name: UploadName
  var expected: Int64?
  /// The offset at which the next piece belongs.
  var received: Int64
  /// What the protocol that began it wanted to know.
  var metadata: String
  /// Nanoseconds since 1970.
  var expires: Int64
}

/// A file that a sender begins to send.
public struct UploadRequest: Sendable {
  public var name: UploadName
  /// In bytes; `nil` if the sender does not tell.
  public var length: Int64?
  /// Who sends it: an address, or the name of a token.
  public var sender: String
  public var userAgent: String = ""
  /// Digests that the sender tells beforehand, in lower-case hex digits.
  public var md5: String?
  public var sha256: String?
  /// Metadata of an upload that can be resumed, which its protocol wants to know later; else `nil`.
  var resumableMetadata: String?
}

/// A file that was received.
struct UploadOutcome: Hashable {
  public enum Kind: String, Sendable {
    /// No file of that name was there.
    case stored
    /// The file took the place of other content that no sender had verified, or that was damaged.
    case replaced
    /// A file with this content was there; nothing was touched.
    case identical
    /// Verified content of that name stays where it is; this is kept beside it.
    case keptBoth = "kept-both"
  }

  var kind: Kind
  /// The folder in STAGING: the id of the capture, or `<id>~2`, …
  var folder: String
  var name: String
  var bytes: Int64
  var md5: String
  var sha256: String
}
