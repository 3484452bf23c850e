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

  /// Opens the folder, which is created if it does not exist, takes its lock, and removes what
  /// interrupted uploads have left. If another receiver has it, the kind of the error is `locked`, and its reason tells
  /// who, as far as known. Cost: one read per capture and one look at each of its files.
  ///
  /// - Parameters:
  ///   - now: nanoseconds since 1970.
  ///   - log: told what was removed, dropped or entered.
  public init(
    at path: FilePath, limits: UploadLimits = UploadLimits(),
    files: any StagingFiles = SystemStagingFiles(), registry: CaptureRegistry = .builtIn,
    now: @escaping @Sendable () -> Int64 = FileStamp.nowNanoseconds,
    log: @escaping @Sendable (String) -> Void = { _ in }
  ) throws(FileError) {
    self.limits = limits
    self.files = files
    self.registry = registry
    self.now = now
    self.log = log
    staging = try HeldFolder.making(following: path)
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
  }

  /// The time now, as it is noted.
  var time: String { UTCText.exact(nanoseconds: now()) }

  /// What is known of a folder in STAGING.
  func folder(_ name: String) -> StoredFolder? { state.withLock { $0[name] } }

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
      state.uploads = state.uploads.filter {
        $0.value.isActive || made.stamp(of: Self.part($0.key)) != nil
      }
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
    try state.withLock { state throws(UploadRefusal) in try checkEntries(request, state) }
    let length = max(0, request.length ?? 0)
    try checkSize(length, of: request.name.capture)
    let announced = state.withLock { $0.announced(limits.ahead) }
    try checkSpace(beside: announced &+ length)
  }

  /// Checks the size while bytes arrive. Asks the disk for its free space every 8 MiB.
  func checkSize(of upload: IncomingFile, bytes: Int64, addedNow: Int64) throws(UploadRefusal) {
    try checkSize(bytes, of: upload.request.name.capture, but: upload.id)
    if bytes >> 23 != (bytes - addedNow) >> 23 { try checkSpace(beside: 0) }
  }

  /// Whether a file of a capture may have so many bytes, beside all that is there and on its way, apart from the upload `id`.
  /// Uploads without a stated length count by the bytes received so far.
  private func checkSize(
    _ bytes: Int64, of capture: String, but id: String? = nil
  ) throws(UploadRefusal) {
    let (isClosed, all, ofCapture) = state.withLock { state in
      (
        state.isClosed,
        limits.quota == nil ? 0 : state.bytes &+ state.onTheirWay(limits.ahead, but: id),
        state.versions(of: capture).reduce(state.onTheirWay(limits.ahead, of: capture, but: id)) {
          $0 &+ $1.bytes
        }
      )
    }
    if isClosed { throw .closing }
    if let most = limits.file, bytes > most {
      throw UploadRefusal(
        .tooLarge, "the file is larger than the \(ByteCount.text(most)) that are accepted")
    }
    if let most = limits.capture, ofCapture > most || bytes > most - ofCapture {
      throw UploadRefusal(
        .tooLarge, "the capture is larger than the \(ByteCount.text(most)) that are accepted")
    }
    if let quota = limits.quota, bytes > quota &- all { throw .stagingFull }
  }

  private func checkSpace(beside bytes: Int64) throws(UploadRefusal) {
    if let free = files.freeBytes(at: staging.path), free &- bytes < limits.reserve {
      throw .diskFull
    }
  }

  /// Whether the folder into which a file would go has space for the entry of another one. Where a file of that name is
  /// there, its content decides; `commit` checks again.
  ///
  /// Runs with the lock of the whole store: an entry is made only where lengths of texts cannot tell, which is in the
  /// last few hundred bytes.
  private func checkEntries(
    _ request: UploadRequest, _ state: StoreState
  ) throws(UploadRefusal) {
    guard let folder = state[request.name.capture], folder.index(of: request.name.name) == nil,
      folder.entryBytes
        + UploadManifest.File.mostEncodedBytes(
          name: request.name.name, sender: request.sender, userAgent: request.userAgent)
        > limits.entries
    else { return }
    try folder.checkSpace(
      for: [
        request.entry(
          max(0, request.length ?? 0), RunningDigests().finish(), modified: time, at: time)
      ],
      limits)
  }

  /// Sees to it that a sender has not too many uploads that it has begun and left: those that were left for an hour go.
  private func removeOldest(for sender: String) throws(UploadRefusal) {
    let left = state.withLock { $0.suspended(of: sender) }
    guard left.count >= limits.suspended else { return }
    let limit = now() &+ limits.resumableLifetime &- UploadSession.longestPause
    let old = left.filter { $0.upload.expires <= limit }
      .sorted { $0.upload.expires < $1.upload.expires }
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
    let resumable = request.resumableMetadata.map {
      IncomingRecord.Resumable(
        expires: UTCText.exact(nanoseconds: time &+ limits.resumableLifetime),
        sha256: request.sha256, metadata: $0)
    }
    let upload = UnfinishedUpload(
      name: request.name,
      record: IncomingRecord(
        capture: request.name.capture, name: request.name.name, expected: request.length,
        started: UTCText.exact(nanoseconds: time), sender: request.sender,
        userAgent: request.userAgent, resumable: resumable),
      started: time, progress: ReceivedBytes(0), isActive: true)
    return try Self.refusing {
      let incoming = try partsFolder()
      // From here the object removes what it has made.
      let file = IncomingFile(
        id, request, upload, in: self, try files.create(Self.part(id), in: incoming),
        at: incoming.path.appending(Self.part(id)))
      try note(upload.record, as: id, durably: resumable != nil)
      state.withLock { $0.uploads[id] = upload }
      return file
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
    try write(record.encoded, to: incoming, as: Self.recordName(id), durably: durably)
    if durably { try files.syncFolder(incoming) }
  }

  /// Writes a file under a temporary name and renames it. Nothing is left if it throws.
  func write(
    _ encode: () throws -> [UInt8], to folder: HeldFolder, as name: String, durably: Bool
  ) throws(FileError) {
    let bytes: [UInt8]
    do {
      bytes = try encode()
    } catch {
      throw FileError(
        kind: .other, path: folder.path.appending(name), operation: "write", reason: "\(error)")
    }
    let beside = "\(Self.randomName()).new"
    let incoming = try partsFolder()
    let path = incoming.path.appending(beside)
    let file = try files.create(beside, in: incoming)
    do throws(FileError) {
      try write(bytes, to: file, at: path, durably: durably)
      try files.rename(beside, in: incoming, to: folder, as: name)
    } catch {
      try? files.remove(beside, in: incoming)
      throw error
    }
  }

  /// Writes bytes to an open file, which is closed then, whatever happens.
  func write(
    _ bytes: [UInt8], to file: FileDescriptor, at path: FilePath, durably: Bool
  ) throws(FileError) {
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
      if file.request.resumableMetadata != nil {
        state.withLock { $0.noteFinished(part.id, part.entry.bytes) }
      }
      ended(file.id, of: part.name.capture, suspended: nil)
    }
    return outcomes
  }

  func removePart(_ id: String) {
    try? files.remove(Self.part(id), in: incoming)
    try? files.remove(Self.recordName(id), in: incoming)
  }

  /// Notes that an upload is no longer received; whether its capture is complete may depend on it.
  func ended(_ id: String, of capture: String, suspended: UnfinishedUpload?) {
    state.withLock { $0.uploads[id] = suspended }
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
        return .diskFull
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
    removeSuspended(by: sender) { $0.isSame(as: name) }
  }

  /// Removes superseded uploads of all files that a folder has.
  func removeSuperseded(in folder: StoredFolder, by sender: String) {
    removeSuspended(by: sender) {
      NameKey($0.capture) == NameKey(folder.manifest.capture) && folder.index(of: $0.name) != nil
    }
  }

  private func removeSuspended(by sender: String, where isMeant: (UploadName) -> Bool) {
    let ids = state.withLock { state in
      let ids = state.suspended(of: sender).filter { isMeant($0.upload.name) }.map(\.id)
      for id in ids { state.uploads[id] = nil }
      return ids
    }
    for id in ids { removePart(id) }
  }

  /// An upload of this very file that was broken off and can be resumed, and how much of it there is.
  func suspended(
    _ name: UploadName, length: Int64?, sha256: String
  ) -> (id: String, offset: Int64)? {
    state.withLock { state in
      state.uploads.filter { _, upload in
        !upload.isActive && upload.name.isSame(as: name) && upload.record.expected == length
          && upload.record.resumable?.sha256 == sha256
      }.map { (id: $0.key, offset: $0.value.received) }
        .max { ($0.offset, $0.id) < ($1.offset, $1.id) }
    }
  }
}
