import Captures
import Synchronization

/// What the store knows, behind one lock that is never held during a file call.
struct StoreState {
  /// By the name of the folder in STAGING.
  private(set) var folders: [NameKey: StoredFolder] = [:]
  /// Names of folders, by the capture that their manifests name.
  private var byCapture: [NameKey: [String]] = [:]
  /// What senders have sent lately. Taken out and put back with the lock of the capture.
  var sessions: [UploadSession.Key: UploadSession] = [:]
  /// What is being received, by the random name of its part.
  var active: [String: ActiveUpload] = [:]
  /// What can be resumed and is not being received, by the random name of its part.
  var suspended: [String: SuspendedUpload] = [:]
  var isClosed = false

  /// Bytes of all files that were received.
  private(set) var bytes: Int64 = 0

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
  mutating func append(_ file: UploadManifest.File, inode: UInt64?, to folder: String) {
    guard folders[NameKey(folder)] != nil else { return }
    folders[NameKey(folder)]?.append(file, inode: inode)
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
    func counts(_ upload: UploadName) -> Bool {
      capture.map { NameKey($0) == NameKey(upload.capture) } ?? true
    }
    return active.reduce(0) { sum, upload in
      upload.key == id || !counts(upload.value.name)
        ? sum : sum &+ upload.value.progress.received &+ upload.value.toCome(ahead)
    }
      &+ suspended.values.reduce(0) { counts($1.name) ? $0 &+ $1.bytes : $0 }
  }

  /// Bytes that were announced and are still to come, at most `ahead` of each upload.
  func announced(_ ahead: Int64) -> Int64 {
    active.values.reduce(0) { $0 &+ $1.toCome(ahead) }
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
    active.values.contains {
      NameKey($0.name.capture) == NameKey(name.capture)
        && NameKey($0.name.name) == NameKey(name.name)
    }
  }

  /// Names that a folder waits for because they are on their way to its capture. An upload that was broken off is none
  /// where the file has come in another way.
  ///
  /// - Parameters:
  ///   - more: names that the folder is about to get.
  ///   - gone: names that are noted and not there.
  func awaited(
    by folder: StoredFolder, having more: Set<NameKey> = [], lacking gone: Set<NameKey> = []
  ) -> [String] {
    let capture = NameKey(folder.manifest.capture)
    return active.values.filter { NameKey($0.name.capture) == capture }.map(\.name.name)
      + suspended.values.filter {
        let name = NameKey($0.name.name)
        return NameKey($0.name.capture) == capture && !more.contains(name)
          && (folder.index(of: name.text) == nil || gone.contains(name))
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

  /// Whether the manifest stays readable with an entry, in the place of the one at `index` if there is one.
  func hasSpace(
    for entry: UploadManifest.File, at index: Int? = nil, _ limits: UploadLimits
  ) -> Bool {
    let old = index.map { content.files[$0].encodedBytes } ?? 0
    return entryBytes - old + entry.encodedBytes <= limits.entries
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

  /// From so many files on a capture has a journal.
  static let journalFromFiles = 64

  /// Whether a new file is noted in the journal, and the manifest written later: where there are many, and none more can
  /// make the capture complete, or undo that.
  var takesJournal: Bool {
    content.files.count >= Self.journalFromFiles && content.family == nil
      && content.complete == nil && !content.declared && !isUnsynced
  }

  /// Adds a file that is in the journal.
  fileprivate mutating func append(_ file: UploadManifest.File, inode: UInt64?) {
    inodes[NameKey(file.name)] = inode
    places[NameKey(file.name)] = content.files.count
    content.files.append(file)
    content.lastArrival = file.received
    bytes = max(0, bytes &+ file.bytes)
    entryBytes &+= file.encodedBytes
    hasJournal = true
  }
}

/// An upload that is being received.
struct ActiveUpload {
  var name: UploadName
  var expected: Int64?
  var started: Int64
  var sender: String
  var progress: ReceivedBytes
  /// Record of an upload that can be resumed.
  var record: IncomingRecord.Resumable?

  /// Bytes that were announced and are still to come, at most `most`.
  func toCome(_ most: Int64) -> Int64 { min(most, max(0, (expected ?? 0) &- progress.received)) }
}

/// An upload that its sender may resume.
struct SuspendedUpload {
  var name: UploadName
  var record: IncomingRecord
  /// When it is removed, in nanoseconds since 1970.
  var expires: Int64
  var bytes: Int64
  /// What was digested so far; `nil` after a new start: the part is then read once more.
  var digests: RunningDigests?
}

/// How far an upload is; read by others while it grows.
final class ReceivedBytes: Sendable {
  private let bytes = Atomic<Int64>(0)

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
