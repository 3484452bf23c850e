import Captures
import Synchronization

/// What the store knows, behind one lock that is never held during a file call.
struct StoreState: Sendable {
  /// By the name of the folder in STAGING.
  private(set) var folders: [NameKey: StoredFolder] = [:]
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
  }

  mutating func forget(_ name: String) {
    let before = folders.removeValue(forKey: NameKey(name))
    bytes = max(0, bytes &- (before?.bytes ?? 0))
  }

  /// Adds a file to a folder in place. Cost: the same however many there are.
  mutating func append(_ file: UploadManifest.File, to folder: String) {
    guard folders[NameKey(folder)] != nil else { return }
    folders[NameKey(folder)]?.append(file)
    bytes = max(0, bytes &+ file.bytes)
  }

  /// Changes notes of a folder that have nothing to do with its files, in place.
  mutating func change(_ folder: String, _ change: (inout StoredFolder) -> Void) {
    guard var stored = folders[NameKey(folder)] else { return }
    change(&stored)
    folders[NameKey(folder)] = stored
  }

  /// Bytes that uploads on their way take: what was announced, or what has come if that is more; of those that are
  /// broken off what has come.
  var onTheirWay: Int64 {
    active.values.reduce(0) { $0 &+ $1.claim } &+ suspended.values.reduce(0) { $0 &+ $1.bytes }
  }

  /// Bytes that were announced and are still to come.
  var announced: Int64 {
    active.values.reduce(0) { sum, upload in
      sum &+ max(0, (upload.expected ?? 0) &- upload.progress.received)
    }
  }

  /// The folders of a capture that have a manifest: `<id>`, `<id>~2`, … in this order.
  func versions(of id: String) -> [StoredFolder] {
    var found: [StoredFolder] = []
    var number = 1
    // A folder in between may have been taken away by a person.
    var absent = 0
    while absent < 8 {
      if let folder = folders[NameKey(UploadStore.folderName(id, number))] {
        found.append(folder)
      } else {
        absent += 1
      }
      number += 1
    }
    return found
  }

  /// Whether a file of that name, or with `nil` any file of the capture, is on its way.
  func isOnItsWay(_ id: String, _ name: String?) -> Bool {
    func matches(_ upload: UploadName) -> Bool {
      NameKey(upload.capture) == NameKey(id)
        && (name.map { NameKey(upload.name) == NameKey($0) } ?? true)
    }
    return active.values.contains { matches($0.name) }
      || name == nil && suspended.values.contains { matches($0.name) }
  }
}

/// A folder of STAGING with a manifest.
struct StoredFolder: Sendable {
  /// Its name in STAGING.
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
  /// What it took to write the manifest the last time.
  var foldSeconds = 0.0
  /// Of its files.
  private(set) var bytes: Int64
  /// Of the entries of its files in the manifest.
  private(set) var entryBytes: Int64
  private var content: UploadManifest
  private var places: [NameKey: Int]

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
  fileprivate mutating func append(_ file: UploadManifest.File) {
    places[NameKey(file.name)] = content.files.count
    content.files.append(file)
    content.lastArrival = file.received
    bytes = max(0, bytes &+ file.bytes)
    entryBytes &+= file.encodedBytes
    hasJournal = true
  }
}

/// An upload that is being received.
struct ActiveUpload: Sendable {
  var name: UploadName
  var expected: Int64?
  var started: Int64
  var sender: String
  var progress: UploadProgress
  /// Of an upload that can be resumed.
  var record: IncomingRecord.Resumable?

  /// Bytes that it takes or will take.
  var claim: Int64 { max(expected ?? 0, progress.received) }
}

/// An upload that its sender may resume.
struct SuspendedUpload: Sendable {
  var name: UploadName
  var record: IncomingRecord
  /// When it is removed, in nanoseconds since 1970.
  var expires: Int64
  var bytes: Int64
  /// What was digested so far; `nil` after a new start: the part is then read once more.
  var digests: RunningDigests?
}

/// How far an upload is; read by others while it grows.
final class UploadProgress: Sendable {
  private let bytes = Atomic<Int64>(0)

  var received: Int64 {
    get { bytes.load(ordering: .relaxed) }
    set { bytes.store(newValue, ordering: .relaxed) }
  }
}
