import Captures
import Core
import Synchronization

/// What the store knows, behind one lock that is never held during a file call.
struct StoreState {
  /// By the name of the folder in STAGING.
  private(set) var folders: [NameKey: StoredFolder] = [:]
  /// Names of folders, by the capture that their manifests name.
  private var byCapture: [NameKey: [String]] = [:]
  /// What senders have sent lately. Taken out and put back with the lock of the capture.
  var sessions: [UploadSession.Key: UploadSession] = [:]
  /// What has begun and is not over, by the random name of its part.
  var uploads: [String: UnfinishedUpload] = [:]
  var isClosed = false
  /// Lengths of uploads that could be resumed and ended a while ago, by id, and these in their order.
  private var finished: (lengths: [String: Int64], order: [String]) = ([:], [])
  private static let mostFinished = 4_096

  /// Bytes of all files that were received.
  private(set) var bytes: Int64 = 0

  /// The folder of that name in STAGING.
  subscript(name: String) -> StoredFolder? { folders[NameKey(name)] }

  /// The length of an upload that ended a while ago: a sender whose connection ended before the last answer asks for it.
  /// After a new start it sends the file again, which changes nothing.
  func finishedLength(_ id: String) -> Int64? { finished.lengths[id] }

  mutating func noteFinished(_ id: String, _ length: Int64) {
    if finished.order.count >= Self.mostFinished {
      for old in finished.order.prefix(Self.mostFinished / 2) { finished.lengths[old] = nil }
      finished.order.removeFirst(Self.mostFinished / 2)
    }
    finished.lengths[id] = length
    finished.order.append(id)
  }

  mutating func put(_ folder: StoredFolder) {
    let before = folders.updateValue(folder, forKey: NameKey(folder.name))
    bytes = max(0, bytes &- (before?.bytes ?? 0) &+ folder.bytes)
    if before == nil {
      byCapture[NameKey(folder.manifest.capture), default: []].append(folder.name)
    }
  }

  mutating func forget(_ name: String) {
    guard let before = folders.removeValue(forKey: NameKey(name)) else { return }
    bytes = max(0, bytes &- before.bytes)
    let capture = NameKey(before.manifest.capture)
    byCapture[capture]?.removeAll { NameKey($0) == NameKey(name) }
    if byCapture[capture]?.isEmpty == true { byCapture[capture] = nil }
  }

  /// Adds a file to a folder in place. Cost: the same however many there are.
  mutating func journal(_ file: UploadManifest.File, _ found: FileStatus?, in folder: String) {
    guard folders[NameKey(folder)] != nil else { return }
    folders[NameKey(folder)]?.enter(file, found, isArrival: true)
    folders[NameKey(folder)]?.hasJournal = true
    bytes = max(0, bytes &+ file.bytes)
  }

  /// Changes notes of a folder that have nothing to do with its files, in place.
  mutating func change(_ folder: String, _ change: (inout StoredFolder) -> Void) {
    guard var stored = folders[NameKey(folder)] else { return }
    change(&stored)
    folders[NameKey(folder)] = stored
  }

  /// Bytes that uploads on their way take: what has come, and of those that are being received at most `ahead` more of
  /// what was announced.
  ///
  /// - Parameters:
  ///   - capture: `nil` for all captures.
  ///   - id: of an upload that does not count.
  func onTheirWay(_ ahead: Int64, of capture: String? = nil, but id: String? = nil) -> Int64 {
    uploads.reduce(0) { sum, upload in
      let isOther = capture.map { NameKey($0) != NameKey(upload.value.name.capture) } ?? false
      return isOther || upload.key == id
        ? sum : sum &+ upload.value.received &+ upload.value.toCome(ahead)
    }
  }

  /// Bytes that were announced and are still to come, at most `ahead` of each upload.
  func announced(_ ahead: Int64) -> Int64 {
    uploads.values.reduce(0) { $0 &+ $1.toCome(ahead) }
  }

  /// The folders whose manifests name a capture, whatever they are called: the one with its own name first, then
  /// `<id>~2`, `<id>~3`, …
  func versions(of id: String) -> [StoredFolder] {
    (byCapture[NameKey(id)] ?? []).sorted { a, b in
      let (isFirst, isSecond) = (NameKey(a) == NameKey(id), NameKey(b) == NameKey(id))
      if isFirst != isSecond { return isFirst }
      return (a.utf8.count, a) < (b.utf8.count, b)
    }.compactMap { folders[NameKey($0)] }
  }

  /// Whether a file of that name is being received.
  func isActive(_ name: UploadName) -> Bool {
    uploads.values.contains { $0.isActive && $0.name.isSame(as: name) }
  }

  /// Uploads that were broken off and that this sender may resume.
  func suspended(of sender: String) -> [(id: String, upload: UnfinishedUpload)] {
    let identity = UploadSession.Key.identity(of: sender)
    return uploads.filter {
      !$0.value.isActive && UploadSession.Key.identity(of: $0.value.record.sender) == identity
    }.map { ($0.key, $0.value) }
  }

  /// An upload that can be resumed and is not being received.
  func suspended(_ id: String) throws(UploadRefusal) -> UnfinishedUpload {
    guard let upload = uploads[id] else { throw .unknownUpload }
    if upload.isActive { throw UploadRefusal(.locked, "this upload is being received already") }
    return upload
  }

  /// Names that a folder waits for because they are on their way to its capture. An upload that was broken off does not
  /// count where the file has come in another way.
  ///
  /// - Parameters:
  ///   - more: names that the folder is about to get.
  ///   - gone: names that are noted and not there.
  func awaited(
    by folder: StoredFolder, having more: Set<NameKey> = [], lacking gone: Set<NameKey> = []
  ) -> [String] {
    let capture = NameKey(folder.manifest.capture)
    return uploads.values.filter {
      let name = NameKey($0.name.name)
      return NameKey($0.name.capture) == capture
        && ($0.isActive
          || !more.contains(name)
            && (folder.index(of: name.text) == nil || gone.contains(name)))
    }.map(\.name.name)
  }
}

/// A folder of STAGING with a manifest.
struct StoredFolder {
  /// Name of the folder in STAGING.
  let name: String
  /// To be changed as a whole: each change costs as much as there are files.
  var manifest: UploadManifest {
    get { content }
    set {
      content = newValue
      bytes = newValue.bytes
      entryBytes = Self.entryBytes(newValue)
      places = Self.places(newValue)
    }
  }
  /// Whether the disk may lack what is noted here: a file call failed after a file had got its name.
  var isUnsynced = false
  /// Whether files stand in the journal that the manifest on the disk does not name.
  var hasJournal = false
  /// Whether the manifest will be written without anybody asking.
  var isFoldPlanned = false
  /// Seconds that writing the manifest took the last time.
  var foldSeconds = 0.0
  /// Size of the folder's files.
  private(set) var bytes: Int64
  /// Size of the entries of its files in the manifest.
  private(set) var entryBytes: Int64
  private var content: UploadManifest
  private var places: [NameKey: Int]
  /// Inodes of files as they were when their content was last known, as far as this process knows it.
  var inodes: [NameKey: UInt64] = [:]

  /// A folder that has nothing yet.
  init(_ name: String, of capture: String, at time: String) {
    self.init(name: name, manifest: UploadManifest(capture: capture, at: time))
  }

  init(name: String, manifest: UploadManifest) {
    self.name = name
    content = manifest
    bytes = manifest.bytes
    entryBytes = Self.entryBytes(manifest)
    places = Self.places(manifest)
  }

  private static func entryBytes(_ manifest: UploadManifest) -> Int64 {
    manifest.files.reduce(0) { $0 &+ $1.encodedBytes }
  }

  /// Throws where the manifest would not stay readable with these entries, each in the place of the one with its name if
  /// there is one.
  func checkSpace(
    for entries: [UploadManifest.File], _ limits: UploadLimits
  ) throws(UploadRefusal) {
    let all = entries.reduce(entryBytes) {
      $0 + $1.encodedBytes - (file($1.name)?.encodedBytes ?? 0)
    }
    guard all > limits.entries else { return }
    throw UploadRefusal(
      .tooLarge,
      "the capture has \(Plural.text(content.files.count, "file")) already, and this server lists no more of one capture: send a shorter scan"
    )
  }

  private static func places(_ manifest: UploadManifest) -> [NameKey: Int] {
    var places: [NameKey: Int] = [:]
    places.reserveCapacity(manifest.files.count)
    for (index, file) in manifest.files.enumerated() where places[NameKey(file.name)] == nil {
      places[NameKey(file.name)] = index
    }
    return places
  }

  /// The index of a file in the manifest. Cost: the same however many there are.
  func index(of name: String) -> Int? { places[NameKey(name)] }

  /// What is noted of a file. Cost: the same however many there are.
  func file(_ name: String) -> UploadManifest.File? { index(of: name).map { content.files[$0] } }

  /// From so many files on a capture has a journal.
  static let journalFromFiles = 64

  /// Whether a new file is noted in the journal, and the manifest written later: where there are many, and none more can
  /// make the capture complete, or undo that.
  var takesJournal: Bool {
    content.files.count >= Self.journalFromFiles && content.family == nil
      && content.complete == nil && !content.declared && !isUnsynced
  }

  /// Notes a file, in the place of what is noted of that name. Cost: the same however many there are.
  ///
  /// - Parameters:
  ///   - found: the file, if it could be looked at.
  ///   - isArrival: whether its sender has sent it now.
  mutating func enter(
    _ file: UploadManifest.File, _ found: FileStatus?, isArrival: Bool = false
  ) {
    let key = NameKey(file.name)
    if let found { inodes[key] = found.inode }
    if isArrival { content.lastArrival = max(content.lastArrival, file.received) }
    bytes = max(0, bytes &+ file.bytes)
    entryBytes &+= file.encodedBytes
    guard let index = places[key] else {
      places[key] = content.files.count
      return content.files.append(file)
    }
    bytes = max(0, bytes &- content.files[index].bytes)
    entryBytes &-= content.files[index].encodedBytes
    content.files[index] = file
  }
}

/// An upload that has begun and is not over: it is being received, or its sender may resume it.
struct UnfinishedUpload {
  let name: UploadName
  /// What is noted beside its part.
  var record: IncomingRecord
  /// When it was begun or taken up again, in nanoseconds since 1970.
  let started: Int64
  let progress: ReceivedBytes
  /// What was digested before it was broken off; `nil` after a new start: the part is then read once more.
  var digests: RunningDigests?
  /// Whether bytes arrive now; otherwise its sender may resume it.
  let isActive: Bool

  /// The offset at which the next piece belongs.
  var received: Int64 { progress.received }

  /// When it is removed, in nanoseconds since 1970; 0 for one that cannot be resumed.
  var expires: Int64 { record.resumable.flatMap { UTCText.nanoseconds($0.expires) } ?? 0 }

  /// Bytes that were announced and are still to come, at most `most`.
  func toCome(_ most: Int64) -> Int64 {
    isActive ? min(most, max(0, (record.expected ?? 0) &- received)) : 0
  }

  /// What a sender who takes it up again asks for.
  var request: UploadRequest {
    UploadRequest(
      name: name, length: record.expected, sender: record.sender, userAgent: record.userAgent,
      sha256: record.resumable?.sha256, resumableMetadata: record.resumable?.metadata)
  }
}

/// How far an upload is; read by others while it grows.
final class ReceivedBytes: Sendable {
  private let bytes: Atomic<Int64>

  init(_ received: Int64) { bytes = Atomic(received) }

  var received: Int64 {
    get { bytes.load(ordering: .relaxed) }
    set { bytes.store(newValue, ordering: .relaxed) }
  }
}

/// A name as a key, compared by its bytes: texts that only look the same are two names on disk.
struct NameKey: Hashable {
  let text: String

  init(_ text: String) { self.text = text }

  static func == (a: NameKey, b: NameKey) -> Bool { a.text.utf8.elementsEqual(b.text.utf8) }

  func hash(into hasher: inout Hasher) {
    for byte in text.utf8 { hasher.combine(byte) }
    hasher.combine(UInt8(0xFF))
  }
}
