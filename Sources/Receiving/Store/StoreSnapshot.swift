import Captures
import Core
import Synchronization

/// What a store holds and receives at one moment, for people and for other programs.
public struct StoreSnapshot: Sendable {
  public struct Capture: Sendable {
    /// The folder in STAGING.
    public var folder: String
    public var manifest: UploadManifest
    /// What is on its way to this capture.
    var arriving: [Arriving]
  }

  public struct Arriving: Sendable {
    public var capture: String
    public var name: String
    public var expected: Int64?
    public var received: Int64
    /// Nanoseconds since 1970.
    public var started: Int64
    public var sender: String
    /// Whether bytes arrive now; otherwise its sender may resume it.
    var isActive: Bool
  }

  /// Newest arrival first.
  public var captures: [Capture]
  var freeBytes: Int64?
  var receivedBytes: Int64
  var activeUploads: Int
}

extension UploadStore {
  func snapshot() -> StoreSnapshot {
    let (folders, arriving, bytes, active) = state.withLock { state in
      (
        Array(state.folders.values),
        state.active.values.map { upload in
          StoreSnapshot.Arriving(
            capture: upload.name.capture, name: upload.name.name, expected: upload.expected,
            received: upload.progress.received, started: upload.started, sender: upload.sender,
            isActive: true)
        }
          + state.suspended.values.map { upload in
            StoreSnapshot.Arriving(
              capture: upload.name.capture, name: upload.name.name,
              expected: upload.record.expected,
              received: upload.bytes, started: 0, sender: upload.record.sender, isActive: false)
          },
        state.bytes, state.active.count
      )
    }
    let byCapture = Dictionary(grouping: arriving) { NameKey($0.capture) }
    var captures = folders.map { folder in
      StoreSnapshot.Capture(
        folder: folder.name, manifest: folder.manifest,
        arriving: NameKey(folder.name) == NameKey(folder.manifest.capture)
          ? (byCapture[NameKey(folder.name)] ?? []) : [])
    }
    // A capture of which nothing is whole yet has no folder.
    let known = Set(folders.map { NameKey($0.name) })
    for (capture, arriving) in byCapture where !known.contains(capture) {
      let time = arriving.map(\.started).max() ?? 0
      captures.append(
        StoreSnapshot.Capture(
          folder: capture.text,
          manifest: UploadManifest(
            capture: capture.text, at: UploadStore.text(nanoseconds: time)),
          arriving: arriving))
    }
    captures.sort {
      ($1.manifest.lastArrival, $0.folder) < ($0.manifest.lastArrival, $1.folder)
    }
    return StoreSnapshot(
      captures: captures, freeBytes: files.freeBytes(at: staging.path), receivedBytes: bytes,
      activeUploads: active)
  }
}
