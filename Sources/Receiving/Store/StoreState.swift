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
  var manifest: UploadManifest { didSet { bytes = manifest.bytes } }
  /// Whether the disk may lack what is noted here: a file call failed after a file had got its name.
  var isUnsynced = false
  /// Of its files.
  private(set) var bytes: Int64

  init(name: String, manifest: UploadManifest) {
    self.name = name
    self.manifest = manifest
    bytes = manifest.bytes
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
