import Captures
import Core

/// A capture as the page and `/captures` show it. No token is in it.
struct CaptureView: Encodable, Sendable {
  struct File: Encodable, Sendable {
    var name: String
    var bytes: Int64
    var state: String
    var received: String
    var md5: String
    var sha256: String
  }

  struct Arriving: Encodable, Sendable {
    var name: String
    var expected: Int64?
    var received: Int64
    /// `nil` while nothing is sent.
    var bytesPerSecond: Double?
    var sender: String
  }

  /// In STAGING.
  var folder: String
  var capture: String
  var family: String?
  /// `arriving`, `complete` or `incomplete`.
  var state: String
  var firstArrival: String
  var lastArrival: String
  var complete: String?
  var missing: [String]
  var processRequested: String?
  var bytes: Int64
  var verified: Int
  var files: [File]
  var arriving: [Arriving]
  var watch: WatchedState?

  init(_ capture: StoreSnapshot.Capture, watched: WatchedState?, now: Int64) {
    let manifest = capture.manifest
    folder = capture.folder
    self.capture = manifest.capture
    family = manifest.family
    state = Self.state(of: capture)
    firstArrival = manifest.firstArrival
    lastArrival = manifest.lastArrival
    complete = manifest.complete
    missing = manifest.missing
    processRequested = manifest.processRequested
    bytes = manifest.bytes
    verified = manifest.files.count { $0.state == .verified }
    files = manifest.files.map {
      File(
        name: $0.name, bytes: $0.bytes, state: $0.state.rawValue, received: $0.received,
        md5: $0.md5, sha256: $0.sha256)
    }
    arriving = capture.arriving.map { upload in
      let seconds = Double(now &- upload.started) / 1e9
      return Arriving(
        name: upload.name, expected: upload.expected, received: upload.received,
        bytesPerSecond: upload.isActive && seconds > 0.5 ? Double(upload.received) / seconds : nil,
        sender: upload.sender)
    }.sorted { $0.name < $1.name }
    watch = watched
  }

  static func state(of capture: StoreSnapshot.Capture) -> String {
    if !capture.arriving.isEmpty { return "arriving" }
    return capture.manifest.complete == nil ? "incomplete" : "complete"
  }
}
