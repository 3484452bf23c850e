import Captures
import Dispatch
import Storage
import Synchronization
import SystemPackage

/// A file that is being received, in a part of its own. Used by one thread at a time; every call may
/// wait for the disk.
///
/// To be ended by `finish`, `suspend` or `abort`; an object that goes away without one is aborted.
public final class IncomingFile: Sendable {
  /// The random name of its part, which identifies an upload that can be resumed.
  public let id: String
  public let request: UploadRequest
  let store: UploadStore
  let path: FilePath

  struct State: Sendable {
    var file: FileDescriptor?
    var received: Int64
    var digests: RunningDigests
    /// The state before the piece that is being received, if it will be checked.
    var mark: Mark?
    var record: IncomingRecord
    var notedAt: Int64
    var syncedTo: Int64
  }

  struct Mark: Sendable {
    var received: Int64
    var digests: RunningDigests
  }

  private let state: Mutex<State>
  private let progress: UploadProgress
  private let ahead: SyncAhead

  init(
    id: String, request: UploadRequest, store: UploadStore, path: FilePath,
    progress: UploadProgress, state: State
  ) {
    self.id = id
    self.request = request
    self.store = store
    self.path = path
    self.progress = progress
    ahead = SyncAhead(store.files, path)
    self.state = Mutex(state)
  }

  deinit {
    if state.withLock({ $0.file != nil }) { abort() }
  }

  /// Bytes received so far: the offset at which the next piece belongs.
  public var received: Int64 { progress.received }

  /// Adds bytes to the part and to both digests. Throws when there are more than allowed or told, or
  /// when the disk is full; the upload is then over, and `abort` removes it.
  public func append(_ bytes: UnsafeRawBufferPointer) throws(UploadRefusal) {
    do {
      try state.withLock { state in try append(bytes, &state) }
    } catch {
      throw UploadStore.refusal(error)
    }
  }

  public func append(_ bytes: [UInt8]) throws(UploadRefusal) {
    try UploadStore.withRawBytes(bytes) { (raw) throws(UploadRefusal) in try append(raw) }
  }

  private func append(_ bytes: UnsafeRawBufferPointer, _ state: inout State) throws {
    guard let file = state.file else { throw UploadRefusal(.failed, "the upload is over") }
    guard !bytes.isEmpty else { return }
    let total = state.received + Int64(bytes.count)
    if let expected = request.length, total > expected {
      throw UploadRefusal(.invalid, "more bytes than the \(expected) that were announced")
    }
    try store.checkSize(of: self, bytes: total, addedNow: Int64(bytes.count))
    try store.files.write(bytes, to: file, at: path)
    state.digests.update(bytes)
    state.received = total
    progress.received = total
    if total - state.syncedTo >= store.limits.syncEvery {
      state.syncedTo = total
      try ahead.start(file)
    }
    let now = store.now()
    if now - state.notedAt >= 2_000_000_000 {
      state.notedAt = now
      state.record.received = total
      // For those who look on only.
      try? store.note(state.record, as: id, durably: false)
    }
  }

  // MARK: Pieces

  /// Begins a piece of an upload that can be resumed.
  ///
  /// - Parameter isChecked: whether `dropPiece` may take its bytes back, also after a new start.
  public func beginPiece(isChecked: Bool) throws(UploadRefusal) {
    do {
      try state.withLock { state in
        guard isChecked else {
          state.mark = nil
          return
        }
        state.mark = Mark(received: state.received, digests: RunningDigests(copying: state.digests))
        state.record.resumable?.uncheckedFrom = state.received
        state.record.received = state.received
        try store.note(state.record, as: id, durably: true)
      }
    } catch {
      throw UploadStore.refusal(error)
    }
  }

  /// Takes the bytes of the piece back.
  public func dropPiece() throws(UploadRefusal) {
    do {
      try state.withLock { state in
        guard let file = state.file, let mark = state.mark else { return }
        try ahead.wait()
        try store.files.truncate(file, to: mark.received, at: path)
        state.received = mark.received
        state.digests = mark.digests
        state.syncedTo = min(state.syncedTo, mark.received)
        progress.received = mark.received
        try endPiece(&state)
      }
    } catch {
      throw UploadStore.refusal(error)
    }
  }

  private func endPiece(_ state: inout State) throws {
    state.mark = nil
    guard state.record.resumable?.uncheckedFrom != nil else { return }
    state.record.resumable?.uncheckedFrom = nil
    state.record.received = state.received
    try store.note(state.record, as: id, durably: true)
  }

  // MARK: Ends

  /// Ends the piece and keeps the part, for whoever resumes it by `UploadStore.resume`. What was
  /// received is on disk afterwards. Only for uploads that can be resumed.
  public func suspend() throws(UploadRefusal) {
    do {
      let suspended = try state.withLock { state -> SuspendedUpload? in
        guard let file = state.file else { return nil }
        state.file = nil
        defer { try? store.files.close(file, at: path) }
        try ahead.wait()
        try store.files.sync(file, at: path)
        state.record.received = state.received
        state.record.resumable?.expires = UTCText.exact(
          nanoseconds: store.now() &+ store.limits.resumableLifetime)
        try endPiece(&state)
        try store.note(state.record, as: id, durably: true)
        return SuspendedUpload(
          name: request.name, record: state.record,
          expires: store.now() &+ store.limits.resumableLifetime, bytes: state.received,
          digests: state.digests)
      }
      store.ended(id, of: request.name.capture, suspended: suspended)
    } catch {
      abort()
      throw UploadStore.refusal(error)
    }
  }

  /// Ends the upload: its length and digests are compared with what the sender told, everything is
  /// written to disk, and the file gets its name. Whoever has the result finds the file after any
  /// crash. If it throws, nothing of the file is left under the capture's folder, unless a disk
  /// failed after the file had got its name: then sending it again ends well.
  ///
  /// - Parameters:
  ///   - md5: what the sender told at the end; `nil` for what the request says.
  ///   - sha256: the same.
  @discardableResult
  public func finish(md5: String? = nil, sha256: String? = nil) throws(UploadRefusal)
    -> UploadOutcome
  {
    do {
      let (file, received, digests) = try state.withLock { state in
        guard let file = state.file else { throw UploadRefusal(.failed, "the upload is over") }
        try ahead.wait()
        return (file, state.received, state.digests.finish())
      }
      if let expected = request.length, received != expected {
        throw UploadRefusal(
          .invalid,
          "\(received) bytes arrived of the \(expected) that were announced: send it again")
      }
      for (told, own) in [
        (md5 ?? request.md5, digests.md5), (sha256 ?? request.sha256, digests.sha256),
      ] {
        if let told, told.lowercased() != own {
          throw UploadRefusal(.wrongDigest, "the digest differs: send the file again")
        }
      }
      try store.files.sync(file, at: path)
      let modified = try FileStatus(file).modifiedNanoseconds
      state.withLock { $0.file = nil }
      try store.files.close(file, at: path)
      let isVerified =
        (md5 ?? request.md5) != nil || (sha256 ?? request.sha256) != nil
      let outcome = try store.commit(
        self, digests, bytes: received, modified: modified, isVerified: isVerified)
      store.removeSuperseded(request.name)
      store.ended(id, of: request.name.capture, suspended: nil)
      return outcome
    } catch {
      abort()
      throw UploadStore.refusal(error)
    }
  }

  /// Removes the part. Does nothing after another end.
  public func abort() {
    let file = state.withLock { state in
      defer { state.file = nil }
      return state.file
    }
    try? ahead.wait()
    if let file { try? store.files.close(file, at: path) }
    store.removePart(id)
    store.ended(id, of: request.name.capture, suspended: nil)
  }
}
