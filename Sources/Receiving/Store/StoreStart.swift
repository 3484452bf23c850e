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
        $0.uploads[id] = UnfinishedUpload(
          name: upload, record: record, started: 0, progress: ReceivedBytes(size), isActive: false)
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
      let capture = folder(name)?.manifest.capture ?? name
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
    let time = time
    var folder = folder(name) ?? StoredFolder(name, of: capture, at: time)
    var isOther = false
    var count = 0
    var read: Int64 = 0
    var tooMany = 0
    var names = listed(held).filter { $0.kind == .file }.map(\.name)
    // One level of folders, where the manifest knows that there is one.
    names += folder.manifest.files.map(\.name).filter { $0.utf8.contains(UInt8(ascii: "/")) }
    for file in names {
      if isCancelled() { break }
      guard let upload = uploadName(of: file, in: capture),
        let found = try? look(at: upload, in: held), found.kind == .file
      else { continue }
      let old = folder.file(file)
      if let old, isAsNoted(old, found, folder.inodes[NameKey(file)]) { continue }
      guard found.bytes <= most - read,
        let digests = try? digests(of: upload, in: held)
      else { continue }
      read += found.bytes
      var entry = UploadManifest.File(
        name: file, bytes: found.bytes, md5: digests.md5, sha256: digests.sha256, received: time,
        state: .unverified, replaced: 0, sender: "found in the folder", userAgent: "",
        modified: found.modified)
      if let old {
        if old.sha256 == entry.sha256 {
          entry = old
          entry.modified = found.modified
        } else {
          // What its sender has said of the capture was said of other content.
          entry.replaced = old.replaced + 1
          entry.state = Self.state(ofChanged: old)
          isOther = true
        }
      } else if (try? folder.checkSpace(for: [entry], limits)) == nil {
        tooMany += 1
        continue
      }
      folder.enter(entry, found)
      count += 1
    }
    if tooMany > 0 {
      log(
        "\(name): \(Plural.text(tooMany, "file")) left out of its manifest, which would be too long to be read"
      )
    }
    guard count > 0 else { return (0, read) }
    if isOther { folder.manifest.declared = false }
    if settleOrNote(folder, held) {
      log("\(name): \(Plural.text(count, "file")) entered that came in another way or have changed")
    }
    return (count, read)
  }

  // MARK: Uploads that can be resumed

  /// What is known of an upload that can be resumed and is not over; `nil` for any other.
  func resumable(_ id: String) -> UnfinishedUpload? {
    state.withLock { $0.uploads[id].flatMap { $0.record.resumable == nil ? nil : $0 } }
  }

  /// The length of an upload that could be resumed and ended a while ago; `nil`: none of this id is known.
  func finishedLength(_ id: String) -> Int64? { state.withLock { $0.finishedLength(id) } }

  private static func bytes(of file: FileDescriptor, at path: FilePath) throws(FileError) -> Int64 {
    do throws(Errno) {
      return try FileStatus(file).bytes
    } catch {
      throw FileError(error, path: path, operation: "look at")
    }
  }

  /// Takes a suspended upload up again, at the offset where it ended. Throws `unknown` for an upload
  /// that does not exist, `locked` for one that is being received. After a new start of the
  /// program the part is read once, for its digests.
  func resume(_ id: String) throws(UploadRefusal) -> IncomingFile {
    let (found, taken) = try state.withLock { state throws(UploadRefusal) in
      let found = try state.suspended(id)
      if state.isClosed { throw .unknownUpload }
      let taken = UnfinishedUpload(
        name: found.name, record: found.record, started: now(),
        progress: ReceivedBytes(found.received), digests: found.digests, isActive: true)
      state.uploads[id] = taken
      return (found, taken)
    }
    let name = Self.part(id)
    let path = incoming.path.appending(name)
    var upload = taken
    do throws(FileError) {
      let file = try files.reopen(name, in: incoming)
      do throws(FileError) {
        if try Self.bytes(of: file, at: path) > upload.received {
          try files.truncate(file, to: upload.received, at: path)
        }
        upload.record.resumable?.uncheckedFrom = nil
        if upload.digests == nil, let reader = try incoming.openFile(name) {
          defer { try? reader.close() }
          upload.digests = try Self.digests(of: reader, at: path)
        }
        try note(upload.record, as: id, durably: true)
        return IncomingFile(id, upload.request, upload, in: self, file, at: path)
      } catch {
        try? files.close(file, at: path)
        throw error
      }
    } catch {
      let isGone = error.kind == .notFound
      state.withLock { $0.uploads[id] = isGone ? nil : found }
      throw isGone ? .unknownUpload : Self.refusal(error)
    }
  }

  /// Removes an upload that can be resumed. Throws as `resume` does.
  func terminate(_ id: String) throws(UploadRefusal) {
    let found = try state.withLock { state throws(UploadRefusal) in
      let found = try state.suspended(id)
      state.uploads[id] = nil
      return found
    }
    removePart(id)
    ended(id, of: found.name.capture, suspended: nil)
  }

  /// Removes uploads that were not resumed in time. To be called now and then.
  public func removeExpired() {
    let time = now()
    let expired = state.withLock { state in
      state.sessions = state.sessions.filter { !$0.value.isOver(at: time) }
      return state.uploads.filter { !$0.value.isActive && $0.value.expires <= time }.map(\.key)
    }
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

  /// What is noted of the file once all of it has come.
  func entry(
    _ bytes: Int64, _ digests: RunningDigests.OfFile, modified: String, at time: String
  ) -> UploadManifest.File {
    UploadManifest.File(
      name: name.name, bytes: bytes, md5: digests.md5, sha256: digests.sha256, received: time,
      state: md5 == nil && sha256 == nil ? .unverified : .verified, replaced: 0, sender: sender,
      userAgent: userAgent, modified: modified)
  }
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
  var sha256: String
}
