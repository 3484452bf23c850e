import Captures
import Core
import Synchronization
import SystemPackage

/// The staging folder of uploads: every file in it is whole, and everything that was acknowledged is
/// on disk.
///
/// A file is received into a part of its own (`begin`, `IncomingFile`), and gets its name in
/// `STAGING/<capture>/` when it is whole. Verified content is never overwritten. What is there is
/// described by `UploadManifest`, what is on its way by `IncomingRecord`. All calls may wait for the
/// disk and may come from any thread; calls that concern one capture wait for each other.
public final class UploadStore: Sendable {
  let limits: UploadLimits
  let staging: HeldFolder
  private let parts: Mutex<HeldFolder>
  let files: any StagingFiles
  let registry: CaptureRegistry
  let now: @Sendable () -> Int64
  let log: @Sendable (String) -> Void
  let state = Mutex(StoreState())
  /// By the name of the folder in STAGING.
  let lastLooks = Mutex<[NameKey: LastLook]>([:])
  private let lock: Mutex<FileLock?>
  private let captureLocks = (0..<256).map { _ in CaptureLock() }

  final class CaptureLock: Sendable {
    let mutex = Mutex(())
  }

  public enum OpenError: Error {
    /// Another receiver holds the folder; who, as far as known.
    case inUse(String)
    case file(FileError)
  }

  /// Opens the folder, which is created if it does not exist, takes its lock, and removes what
  /// interrupted uploads have left. Cost: one read per capture and one look at each of its files.
  ///
  /// - Parameters:
  ///   - now: nanoseconds since 1970.
  ///   - log: told what was removed, dropped or entered.
  public init(
    at path: FilePath, limits: UploadLimits = UploadLimits(),
    files: any StagingFiles = SystemStagingFiles(), registry: CaptureRegistry = .builtIn,
    now: @escaping @Sendable () -> Int64 = FileStamp.nowNanoseconds,
    log: @escaping @Sendable (String) -> Void = { _ in }
  ) throws(OpenError) {
    self.limits = limits
    self.files = files
    self.registry = registry
    self.now = now
    self.log = log
    do throws(FileError) {
      let staging = try HeldFolder.making(following: path)
      self.staging = staging
      guard
        let lock = try FileLock(
          in: staging, name: IncomingRecord.lockName, holder: "scanmill receive")
      else {
        let holder = FileLock.holder(of: path.appending(IncomingRecord.lockName))
        throw FileError(
          kind: .locked, path: path, operation: "lock", reason: holder ?? "another receiver")
      }
      self.lock = Mutex(lock)
      parts = Mutex(try staging.makeFolder(IncomingRecord.folderName))
      try sweep()
      try load()
    } catch {
      if error.kind == .locked { throw .inUse(error.reason) }
      throw .file(error)
    }
  }

  static func text(nanoseconds: Int64) -> String { UTCText.exact(nanoseconds: nanoseconds) }

  /// Refuses new uploads and gives the lock up. Uploads that are under way fail at their next call.
  public func close() {
    foldAll()
    abandon()
  }

  /// Ends as a kill does, for tests: nothing is written any more.
  func abandon() {
    state.withLock { $0.isClosed = true }
    lock.withLock { $0 = nil }
  }

  public var path: FilePath { staging.path }

  /// The folder of parts.
  var incoming: HeldFolder { parts.withLock { $0 } }

  /// The folder of parts for a new file; made again where it was removed or moved away, which ends what could be resumed.
  func partsFolder() throws(FileError) -> HeldFolder {
    let held = incoming
    if held.isInPlace { return held }
    let made = try files.makeFolder(IncomingRecord.folderName, in: staging)
    try files.syncFolder(staging)
    parts.withLock { $0 = made }
    state.withLock { state in
      state.suspended = state.suspended.filter { made.stamp(of: Self.part($0.key)) != nil }
    }
    return made
  }

  /// `<id>`, `<id>~2`, …
  static func folderName(_ id: String, _ number: Int) -> String {
    number == 1 ? id : "\(id)~\(number)"
  }

  /// The id without `~2`, so that ids whose folders may meet have one lock.
  static func base(of id: String) -> String {
    var bytes = id.utf8[...]
    while let tilde = bytes.lastIndex(of: UInt8(ascii: "~")) {
      let number = bytes[bytes.index(after: tilde)...]
      guard !number.isEmpty, number.allSatisfy(\.isDigit),
        tilde != bytes.startIndex
      else { break }
      bytes = bytes[..<tilde]
    }
    return String(Substring(bytes))
  }

  /// Runs `body` while no other call changes the capture, or one whose name some disks do not tell from its own.
  func withCapture<Result: Sendable>(_ id: String, _ body: () throws -> Result) rethrows -> Result {
    let index =
      UInt(bitPattern: Self.base(of: id).lowercased().hashValue) % UInt(captureLocks.count)
    return try captureLocks[Int(index)].mutex.withLock { _ in try body() }
  }

  // MARK: Beginning

  /// Whether an upload would be accepted as far as its name and length tell. Nothing is created.
  public func check(_ request: UploadRequest) throws(UploadRefusal) {
    let ahead = limits.ahead
    let (isClosed, bytes, onTheirWay, announced, ofCapture, filesOfFull) = state.withLock { state in
      (
        state.isClosed, state.bytes, state.onTheirWay(ahead), state.announced(ahead),
        Self.bytes(of: request.name.capture, state, ahead), filesIfFull(request, state)
      )
    }
    if isClosed { throw UploadRefusal(.failed, "the server is shutting down") }
    if let filesOfFull { throw Self.tooManyFiles(filesOfFull) }
    let length = max(0, request.length ?? 0)
    try checkSize(length, ofCapture: ofCapture)
    if let quota = limits.quota, quota &- bytes < onTheirWay &+ length {
      throw UploadRefusal(.noSpace, "the staging folder is full: ask whoever runs this server")
    }
    if let free = files.freeBytes(at: staging.path),
      free &- announced &- length < limits.reserve
    {
      throw UploadRefusal(
        .noSpace, "the disk of this server is full: ask whoever runs it")
    }
  }

  /// Bytes of a capture, with what is on its way.
  private static func bytes(
    of capture: String, _ state: StoreState, _ ahead: Int64, but id: String? = nil
  ) -> Int64 {
    state.versions(of: capture).reduce(state.onTheirWay(ahead, of: capture, but: id)) {
      $0 &+ $1.bytes
    }
  }

  /// The number of files of the folder into which a file would go, if it has no space for the entry of another one. Where
  /// a file of that name is there, its content decides; `commit` checks again.
  ///
  /// Runs with the lock of the whole store: an entry is made only where lengths of texts cannot tell, which is in the
  /// last few hundred bytes.
  private func filesIfFull(_ request: UploadRequest, _ state: StoreState) -> Int? {
    guard let folder = state.folders[NameKey(request.name.capture)],
      folder.index(of: request.name.name) == nil,
      folder.entryBytes
        + UploadManifest.File.mostEncodedBytes(
          name: request.name.name, sender: request.sender, userAgent: request.userAgent)
        > limits.entries
    else { return nil }
    let digests = RunningDigests().finish()
    let time = UTCText.exact(nanoseconds: now())
    let entry = UploadManifest.File(
      name: request.name.name, bytes: max(0, request.length ?? 0),
      md5: digests.md5, sha256: digests.sha256, received: time, state: .unverified, replaced: 0,
      sender: request.sender, userAgent: request.userAgent, modified: time)
    return folder.hasSpace(for: entry, limits) ? nil : folder.manifest.files.count
  }

  static func tooManyFiles(_ count: Int) -> UploadRefusal {
    UploadRefusal(
      .tooLarge,
      "the capture has \(Plural.text(count, "file")) already, and this server lists no more of one capture: send a shorter scan"
    )
  }

  private func checkSize(_ bytes: Int64, ofCapture: Int64) throws(UploadRefusal) {
    if let most = limits.file, bytes > most {
      throw UploadRefusal(
        .tooLarge, "the file is larger than the \(ByteCount.text(most)) that are accepted")
    }
    if let most = limits.capture, ofCapture > most || bytes > most - ofCapture {
      throw UploadRefusal(
        .tooLarge, "the capture is larger than the \(ByteCount.text(most)) that are accepted")
    }
  }

  /// Checks the size while bytes arrive. Asks the disk for its free space every 8 MiB.
  func checkSize(
    of upload: IncomingFile, bytes: Int64, addedNow: Int64
  ) throws(UploadRefusal) {
    let (isClosed, all, others, ofCapture) = state.withLock { state in
      (
        state.isClosed, state.bytes,
        // Uploads without a stated length count by the bytes received so far.
        limits.quota == nil ? 0 : state.onTheirWay(limits.ahead, but: upload.id),
        Self.bytes(of: upload.request.name.capture, state, limits.ahead, but: upload.id)
      )
    }
    if isClosed { throw UploadRefusal(.failed, "the server is shutting down") }
    try checkSize(bytes, ofCapture: ofCapture)
    if let quota = limits.quota, bytes > quota &- all &- others {
      throw UploadRefusal(.noSpace, "the staging folder is full: ask whoever runs this server")
    }
    if bytes >> 23 != (bytes - addedNow) >> 23, let free = files.freeBytes(at: staging.path),
      free < limits.reserve
    {
      throw UploadRefusal(.noSpace, "the disk of this server is full: ask whoever runs it")
    }
  }

  /// Sees to it that a sender has not too many uploads that it has begun and left: those that were left for an hour go.
  private func removeOldest(for sender: String) throws(UploadRefusal) {
    let identity = UploadSession.Key.identity(of: sender)
    let left = state.withLock { state in
      state.suspended.filter { UploadSession.Key.identity(of: $0.value.record.sender) == identity }
        .map { (id: $0.key, expires: $0.value.expires) }
    }
    guard left.count >= limits.suspended else { return }
    let limit = now() &+ limits.resumableLifetime &- UploadSession.longestPause
    let old = left.filter { $0.expires <= limit }.sorted { $0.expires < $1.expires }
    guard !old.isEmpty else {
      throw UploadRefusal(
        .tooMany, "\(left.count) uploads were begun and left: finish them, or end them")
    }
    for (id, _) in old.prefix(left.count - limits.suspended + 1) { try? terminate(id) }
  }

  /// Begins to receive a file. Throws before anything is created when its name or length is not
  /// acceptable.
  func begin(_ request: UploadRequest) throws(UploadRefusal) -> IncomingFile {
    try check(request)
    if request.resumableMetadata != nil { try removeOldest(for: request.sender) }
    let id = Self.randomName()
    let time = now()
    var record = IncomingRecord(
      capture: request.name.capture, name: request.name.name, expected: request.length,
      started: UTCText.exact(nanoseconds: time), sender: request.sender,
      userAgent: request.userAgent)
    if let metadata = request.resumableMetadata {
      record.resumable = IncomingRecord.Resumable(
        expires: UTCText.exact(nanoseconds: time &+ limits.resumableLifetime),
        sha256: request.sha256, metadata: metadata)
    }
    let part = Self.part(id)
    do throws(FileError) {
      let incoming = try partsFolder()
      let file = try files.create(part, in: incoming)
      let progress = ReceivedBytes()
      // From here the object removes what it has made.
      let upload = IncomingFile(
        id: id, request: request, store: self, path: incoming.path.appending(part),
        progress: progress,
        state: IncomingFile.State(
          file: file, received: 0, digests: RunningDigests(), mark: nil, record: record,
          notedAt: time, syncedTo: 0))
      try note(record, as: id, durably: record.resumable != nil)
      state.withLock {
        $0.active[id] = ActiveUpload(
          name: request.name, expected: request.length, started: time, sender: request.sender,
          progress: progress, record: record.resumable)
      }
      return upload
    } catch {
      throw Self.refusal(error)
    }
  }

  static func part(_ id: String) -> String { "\(id).part" }
  static func recordName(_ id: String) -> String { "\(id).json" }

  /// 128 random bits, in hex digits.
  static func randomName() -> String {
    var generator = SystemRandomNumberGenerator()
    return MessageDigest.hex((0..<16).map { _ in UInt8.random(in: 0...255, using: &generator) })
  }

  /// Writes the record of an upload, atomically.
  func note(_ record: IncomingRecord, as id: String, durably: Bool) throws(FileError) {
    let bytes: [UInt8]
    do {
      bytes = try record.encoded()
    } catch {
      throw FileError(
        kind: .other, path: incoming.path.appending(Self.recordName(id)), operation: "write",
        reason: "\(error)")
    }
    try write(bytes, to: incoming, as: Self.recordName(id), durably: durably)
    if durably { try files.syncFolder(incoming) }
  }

  /// Writes a file under a temporary name and renames it. Nothing is left if it throws.
  func write(
    _ bytes: [UInt8], to folder: HeldFolder, as name: String, durably: Bool
  ) throws(FileError) {
    let beside = "\(Self.randomName()).new"
    let incoming = try partsFolder()
    let path = incoming.path.appending(beside)
    let file = try files.create(beside, in: incoming)
    do throws(FileError) {
      do throws(FileError) {
        try Self.withRawBytes(bytes) { (raw) throws(FileError) in
          try files.write(raw, to: file, at: path)
        }
        if durably { try files.sync(file, at: path) }
      } catch {
        try? files.close(file, at: path)
        throw error
      }
      try files.close(file, at: path)
      try files.rename(beside, in: incoming, to: folder, as: name)
    } catch {
      try? files.remove(beside, in: incoming)
      throw error
    }
  }

  /// `withUnsafeBytes` with the type of the error.
  static func withRawBytes<Failure: Error>(
    _ bytes: [UInt8], _ body: (UnsafeRawBufferPointer) throws(Failure) -> Void
  ) throws(Failure) {
    try bytes.withUnsafeBytes { raw in Result { () throws(Failure) in try body(raw) } }.get()
  }

  // MARK: Ends of uploads

  /// Gives whole parts of one capture their names.
  func finish(_ uploads: [(file: IncomingFile, part: WholePart)]) throws -> [UploadOutcome] {
    let outcomes = try commit(uploads.map(\.part))
    for (file, part) in uploads {
      removeSuperseded(part.name, by: part.entry.sender)
      ended(file.id, of: part.name.capture, suspended: nil)
    }
    return outcomes
  }

  func removePart(_ id: String) {
    try? files.remove(Self.part(id), in: incoming)
    try? files.remove(Self.recordName(id), in: incoming)
  }

  /// Notes that an upload is no longer received; whether its capture is complete may depend on it.
  func ended(_ id: String, of capture: String, suspended: SuspendedUpload?) {
    state.withLock { state in
      state.active[id] = nil
      state.suspended[id] = suspended
    }
    withCapture(capture) { rejudge(capture) }
  }

  // MARK: Errors

  /// The result of `body`, whose errors become refusals.
  static func refusing<Result>(_ body: () throws -> Result) throws(UploadRefusal) -> Result {
    do { return try body() } catch { throw refusal(error) }
  }

  /// What went wrong, for the person who sends.
  static func refusal(_ error: any Error) -> UploadRefusal {
    if let refusal = error as? UploadRefusal { return refusal }
    if let error = error as? FileError {
      switch error.kind {
      case .noSpace:
        return UploadRefusal(.noSpace, "the disk of this server is full: ask whoever runs it")
      case .notOurs:
        return UploadRefusal(
          .conflict, "something else is in the way on this server: \(error.reason)")
      default:
        return UploadRefusal(
          .failed, "this server could not store the file (\(error.problem)): send it again")
      }
    }
    return UploadRefusal(.failed, "this server could not store the file: \(error)")
  }

  /// Removes uploads of a file that were broken off and are not needed, because the file has come in another way: its
  /// capture must not wait for an old part. Those of the same sender go.
  func removeSuperseded(_ name: UploadName, by sender: String) {
    removeSuspended(by: sender) {
      NameKey($0.capture) == NameKey(name.capture) && NameKey($0.name) == NameKey(name.name)
    }
  }

  /// Removes superseded uploads of all files that a folder has.
  func removeSuperseded(in folder: StoredFolder, by sender: String) {
    removeSuspended(by: sender) {
      NameKey($0.capture) == NameKey(folder.manifest.capture) && folder.index(of: $0.name) != nil
    }
  }

  private func removeSuspended(by sender: String, where isMeant: (UploadName) -> Bool) {
    let identity = UploadSession.Key.identity(of: sender)
    let ids = state.withLock { state in
      let ids = state.suspended.filter { _, upload in
        isMeant(upload.name) && UploadSession.Key.identity(of: upload.record.sender) == identity
      }.map(\.key)
      for id in ids { state.suspended[id] = nil }
      return ids
    }
    for id in ids { removePart(id) }
  }

  /// An upload of this very file that was broken off and can be resumed, and how much of it there is.
  func suspended(
    _ name: UploadName, length: Int64?, sha256: String
  ) -> (id: String, offset: Int64)? {
    state.withLock { state in
      state.suspended.filter { _, upload in
        upload.name == name && upload.record.expected == length
          && upload.record.resumable?.sha256 == sha256
      }.max { ($0.value.bytes, $0.key) < ($1.value.bytes, $1.key) }.map {
        (id: $0.key, offset: $0.value.bytes)
      }
    }
  }
}
