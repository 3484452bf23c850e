import Captures
import Core
import Dispatch
import Glibc
import Synchronization
import SystemPackage

/// A file that is being received, in a part of its own. Used by one thread at a time; every call may
/// wait for the disk.
///
/// To be ended by `finish`, `suspend` or `abort`; an object that goes away without one is aborted.
final class IncomingFile: Sendable {
  /// The random name of its part, which identifies an upload that can be resumed.
  let id: String
  let request: UploadRequest
  let store: UploadStore
  let path: FilePath

  private struct State {
    var file: FileDescriptor?
    var received: Int64
    var digests: RunningDigests
    /// The state before the piece that is being received.
    var mark: (received: Int64, digests: RunningDigests)?
    var record: IncomingRecord
    var notedAt: Int64
    var syncedTo: Int64
  }

  private let state: Mutex<State>
  private let progress: ReceivedBytes
  /// When the upload began or was taken up again, in nanoseconds since 1970.
  private let started: Int64
  private let ahead: SyncAhead

  /// - Parameters:
  ///   - upload: as it is noted among those of the store.
  ///   - file: its part, which is open for appending.
  init(
    _ id: String, _ request: UploadRequest, _ upload: UnfinishedUpload, in store: UploadStore,
    _ file: FileDescriptor, at path: FilePath
  ) {
    self.id = id
    self.request = request
    self.store = store
    self.path = path
    progress = upload.progress
    started = upload.started
    ahead = SyncAhead(store.files, path)
    state = Mutex(
      State(
        file: file, received: upload.received, digests: upload.digests ?? RunningDigests(),
        record: upload.record, notedAt: upload.started, syncedTo: upload.received))
  }

  deinit {
    if state.withLock({ $0.file != nil }) { abort() }
  }

  /// Bytes received so far: the offset at which the next piece belongs.
  var received: Int64 { progress.received }

  /// Adds bytes to the part and to both digests. Throws when there are more than allowed or told, or
  /// when the disk is full; the upload is then over, and `abort` removes it.
  func append(_ bytes: UnsafeRawBufferPointer) throws(UploadRefusal) {
    try UploadStore.refusing { try state.withLock { state in try append(bytes, &state) } }
  }

  func append(_ bytes: [UInt8]) throws(UploadRefusal) {
    try UploadStore.withRawBytes(bytes) { (raw) throws(UploadRefusal) in try append(raw) }
  }

  private func append(_ bytes: UnsafeRawBufferPointer, _ state: inout State) throws {
    guard let file = state.file else { throw UploadRefusal(.failed, "the upload is over") }
    guard !bytes.isEmpty else { return }
    let total = state.received + Int64(bytes.count)
    if let expected = request.length, total > expected {
      throw UploadRefusal(.tooLarge, "more bytes than the \(expected) that were announced")
    }
    // Told first, so that of two uploads that come at once each is seen by the other.
    progress.received = total
    do {
      try store.checkSize(of: self, bytes: total, addedNow: Int64(bytes.count))
      try store.files.write(bytes, to: file, at: path)
    } catch {
      progress.received = state.received
      throw error
    }
    state.digests.update(bytes)
    state.received = total
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

  /// Begins a piece of an upload that can be resumed, whose bytes `dropPiece` may take back.
  ///
  /// - Parameter isChecked: whether they are taken back after a new start, too.
  func beginPiece(isChecked: Bool) throws(UploadRefusal) {
    try UploadStore.refusing {
      try state.withLock { state in
        state.mark = (state.received, RunningDigests(copying: state.digests))
        guard isChecked else { return }
        state.record.resumable?.uncheckedFrom = state.received
        state.record.received = state.received
        try store.note(state.record, as: id, durably: true)
      }
    }
  }

  /// Takes the bytes of the piece back.
  func dropPiece() throws(UploadRefusal) {
    try UploadStore.refusing {
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
  func suspend() throws(UploadRefusal) {
    do {
      let suspended = try state.withLock { state -> UnfinishedUpload? in
        guard let file = state.file else { return nil }
        state.file = nil
        defer { try? store.files.close(file, at: path) }
        try ahead.wait()
        try store.files.sync(file, at: path)
        state.record.received = state.received
        state.record.resumable?.expires = UTCText.exact(
          nanoseconds: store.now() &+ store.limits.resumableLifetime)
        // A full disk has no space for a note; what is noted already is less, and true.
        try? endPiece(&state)
        try? store.note(state.record, as: id, durably: true)
        return UnfinishedUpload(
          name: request.name, record: state.record, started: started, progress: progress,
          digests: state.digests, isActive: false)
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
  @discardableResult
  func finish() throws(UploadRefusal) -> UploadOutcome {
    try Self.finish([self])[0]
  }

  /// Ends all uploads of one capture, which get their names in one folder, or none of them: see `finish`.
  static func finish(_ uploads: [IncomingFile]) throws(UploadRefusal) -> [UploadOutcome] {
    guard let store = uploads.first?.store else { return [] }
    do {
      return try store.finish(uploads.map { ($0, try $0.whole()) })
    } catch {
      for upload in uploads { upload.abort() }
      throw UploadStore.refusal(error)
    }
  }

  /// Ends the part: compares it with what its sender told, and has it written to disk.
  private func whole() throws -> WholePart {
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
    for (told, own) in [(request.md5, digests.md5), (request.sha256, digests.sha256)] {
      if let told, told.lowercased() != own {
        throw UploadRefusal(.wrongDigest, "the digest differs: send the file again")
      }
    }
    try store.files.sync(file, at: path)
    let modified = try FileStatus(file).modified
    state.withLock { $0.file = nil }
    try store.files.close(file, at: path)
    return WholePart(
      id: id, name: request.name, began: started,
      entry: request.entry(received, digests, modified: modified, at: store.time))
  }

  /// Removes the part. Does nothing after another end.
  func abort() {
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

/// Writes what was received to disk while more is received, so that little is left at the end. At
/// most one such call is under way.
final class SyncAhead: Sendable {
  private let files: any StagingFiles
  private let path: FilePath
  private let group = DispatchGroup()
  private let failure = Mutex<FileError?>(nil)
  private static let queue = DispatchQueue(label: "sync", attributes: .concurrent)

  init(_ files: any StagingFiles, _ path: FilePath) {
    self.files = files
    self.path = path
  }

  /// Waits for the previous call. Throws its error.
  func start(_ file: FileDescriptor) throws(FileError) {
    try wait()
    Self.queue.async(group: group) { [self] in
      do throws(FileError) {
        try files.sync(file, at: path)
      } catch {
        failure.withLock { $0 = error }
      }
    }
  }

  /// Waits until no call is under way. Throws the error of the last one, each time.
  func wait() throws(FileError) {
    group.wait()
    if let error = failure.withLock({ $0 }) { throw error }
  }
}

/// The changes that the store makes to files. Tests put failures between any two of them.
public protocol StagingFiles: Sendable {
  func makeFolder(_ name: String, in folder: HeldFolder) throws(FileError) -> HeldFolder
  func removeFolder(_ name: String, in folder: HeldFolder) throws(FileError)
  /// Creates a file; an existing one is an error.
  func create(_ name: String, in folder: HeldFolder) throws(FileError) -> FileDescriptor
  /// Opens an existing file for appending.
  func reopen(_ name: String, in folder: HeldFolder) throws(FileError) -> FileDescriptor
  func write(_ bytes: UnsafeRawBufferPointer, to file: FileDescriptor, at path: FilePath)
    throws(FileError)
  func truncate(_ file: FileDescriptor, to bytes: Int64, at path: FilePath) throws(FileError)
  /// The file's content, and what is needed to read it, is on disk afterwards.
  func sync(_ file: FileDescriptor, at path: FilePath) throws(FileError)
  func close(_ file: FileDescriptor, at path: FilePath) throws(FileError)
  func rename(
    _ name: String, in folder: HeldFolder, to target: HeldFolder, as newName: String
  ) throws(FileError)
  /// Puts the content of a file under a name that does not exist in another folder: as a clone, else as a second name of
  /// the file, else as a copy. It is on disk afterwards.
  func share(
    _ name: String, in folder: HeldFolder, to target: HeldFolder, as newName: String
  ) throws(FileError)
  func remove(_ name: String, in folder: HeldFolder) throws(FileError)
  /// Names created, renamed and removed in the folder are on disk afterwards.
  func syncFolder(_ folder: HeldFolder) throws(FileError)
  /// Space for this user; `nil` if unknown.
  func freeBytes(at path: FilePath) -> Int64?
}

/// Both digests of the bytes so far. Used by one thread at a time.
///
/// Unchecked: libcrypto's contexts may be used from any thread, by one after the other, which the
/// owner sees to.
final class RunningDigests: @unchecked Sendable {
  private let md5: MessageDigest
  private let sha256: MessageDigest

  /// Both digests of a whole file, in lower-case hex digits.
  typealias OfFile = (md5: String, sha256: String)

  init() {
    md5 = MessageDigest(.md5)
    sha256 = MessageDigest(.sha256)
  }

  init(copying other: RunningDigests) {
    md5 = MessageDigest(copying: other.md5)
    sha256 = MessageDigest(copying: other.sha256)
  }

  func update(_ bytes: UnsafeRawBufferPointer) {
    md5.update(bytes)
    sha256.update(bytes)
  }

  /// To be called once.
  func finish() -> OfFile { (md5.finalizeHex(), sha256.finalizeHex()) }
}

/// The system's own files.
public struct SystemStagingFiles: StagingFiles {
  public init() {}

  public func makeFolder(_ name: String, in folder: HeldFolder) throws(FileError) -> HeldFolder {
    try folder.makeFolder(name)
  }

  public func removeFolder(_ name: String, in folder: HeldFolder) throws(FileError) {
    folder.removeIfEmpty(name)
  }

  public func create(_ name: String, in folder: HeldFolder) throws(FileError) -> FileDescriptor {
    try folder.create(name)
  }

  public func reopen(_ name: String, in folder: HeldFolder) throws(FileError) -> FileDescriptor {
    guard try folder.entry(name)?.fileStamp != nil else {
      throw FileError(
        .noSuchFileOrDirectory, path: folder.path.appending(name), operation: "open")
    }
    return try folder.append(to: name)
  }

  public func write(
    _ bytes: UnsafeRawBufferPointer, to file: FileDescriptor, at path: FilePath
  ) throws(FileError) {
    try Self.call(path, "write") { _ = try file.writeAll(bytes) }
  }

  public func truncate(
    _ file: FileDescriptor, to bytes: Int64, at path: FilePath
  ) throws(FileError) {
    try Self.call(path, "write") {
      if ftruncate(file.rawValue, off_t(bytes)) != 0 { throw Errno(rawValue: errno) }
    }
  }

  public func sync(_ file: FileDescriptor, at path: FilePath) throws(FileError) {
    try Self.call(path, "flush") {
      if fdatasync(file.rawValue) != 0 { throw Errno(rawValue: errno) }
    }
  }

  public func close(_ file: FileDescriptor, at path: FilePath) throws(FileError) {
    try Self.call(path, "close") { try file.close() }
  }

  public func rename(
    _ name: String, in folder: HeldFolder, to target: HeldFolder, as newName: String
  ) throws(FileError) {
    try folder.rename(name, to: target, as: newName)
  }

  public func share(
    _ name: String, in folder: HeldFolder, to target: HeldFolder, as newName: String
  ) throws(FileError) {
    try folder.share(name, to: target, as: newName)
    guard let file = try target.openFile(newName) else { return }
    let path = target.path.appending(newName)
    do throws(FileError) {
      try sync(file, at: path)
    } catch {
      try? file.close()
      try? target.remove(newName)
      throw error
    }
    try close(file, at: path)
  }

  public func remove(_ name: String, in folder: HeldFolder) throws(FileError) {
    try folder.remove(name)
  }

  public func syncFolder(_ folder: HeldFolder) throws(FileError) { try folder.flush() }

  public func freeBytes(at path: FilePath) -> Int64? {
    (try? FileSystemSpace(at: path))?.freeBytes
  }

  private static func call(
    _ path: FilePath, _ operation: String, _ body: () throws -> Void
  ) throws(FileError) {
    do {
      try body()
    } catch {
      throw FileError(error, path: path, operation: operation)
    }
  }
}
