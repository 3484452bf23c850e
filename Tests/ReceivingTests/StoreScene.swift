@testable import Captures
import Foundation
@testable import Core
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import Receiving

/// The system's time, or later.
final class LaterClock: Sendable {
  private let ahead = Atomic<Int64>(0)
  func now() -> Int64 { FileStamp.nowNanoseconds() &+ ahead.load(ordering: .relaxed) }
  func add(_ seconds: Int64) { ahead.add(seconds * 1_000_000_000, ordering: .relaxed) }
}

/// A staging folder with a store.
final class StoreScene {
  let folder: TemporaryFolder
  let files: FaultyFiles
  private(set) var store: UploadStore
  private let limits: UploadLimits
  private let clock = LaterClock()

  init(limits: UploadLimits = StoreScene.limits, free: Int64? = nil) throws {
    folder = try TemporaryFolder()
    files = FaultyFiles(free: free)
    self.limits = limits
    store = try UploadStore(
      at: folder.path.appending("staging"), limits: limits, files: files, now: clock.now)
  }

  /// Lets time go on.
  func wait(seconds: Int64) { clock.add(seconds) }

  static var limits: UploadLimits {
    var limits = UploadLimits()
    limits.reserve = 0
    // Written when a test says so.
    limits.journalSeconds = 3600
    return limits
  }

  /// Ends the store as a kill does: what it has in memory is gone, nothing is tidied up.
  func restart() throws {
    store.abandon()
    files.arm(nil)
    store = try UploadStore(at: path, limits: limits, files: files, now: clock.now)
  }

  var path: FilePath { folder.path.appending("staging") }

  func name(_ text: String) throws -> UploadName {
    try UploadName(fileName: text, endings: limits.endings)
  }

  func begin(_ name: String, length: Int64? = nil, sha256: String? = nil, resumable: Bool = false)
    throws -> IncomingFile
  {
    try store.begin(
      UploadRequest(
        name: try self.name(name), length: length, sender: "test", sha256: sha256,
        resumableMetadata: resumable ? "" : nil))
  }

  @discardableResult
  func send(_ name: String, _ content: String) throws -> UploadOutcome {
    let bytes = Array(content.utf8)
    let upload = try begin(name, length: Int64(bytes.count))
    try upload.append(bytes)
    return try upload.finish()
  }

  /// A file of a capture that is told, with its digest if it is verified on arrival.
  @discardableResult
  func put(
    _ capture: String, _ path: String, _ content: String, by sender: String = "test",
    isVerified: Bool = true
  ) throws -> UploadOutcome {
    let bytes = Array(content.utf8)
    let upload = try store.begin(
      UploadRequest(
        name: try UploadName(capture: capture, path: path, endings: limits.endings),
        length: Int64(bytes.count), sender: sender,
        sha256: isVerified ? Digest(of: content).hex : nil))
    try upload.append(bytes)
    return try upload.finish()
  }

  /// Says that a capture is complete, with a list of names and contents.
  func complete(
    _ capture: String, _ files: [String: String], by sender: String = "test"
  ) throws -> UploadStore.Completion {
    try store.complete(
      capture,
      files.sorted { $0.key < $1.key }.map {
        .init(name: $0.key, bytes: Int64($0.value.utf8.count), sha256: Digest(of: $0.value).hex)
      }, sender: sender)
  }

  static func md5(_ content: String) -> String {
    let digest = MessageDigest(.md5)
    Array(content.utf8).withUnsafeBytes { digest.update($0) }
    return digest.finalizeHex()
  }

  func verify(_ name: String, _ content: String) throws -> UploadStore.VerifyAnswer {
    try store.verify([name], md5: Self.md5(content)).answer
  }

  func manifest(_ folder: String) throws -> UploadManifest? {
    UploadManifest(in: try HeldFolder(reading: path.appending(folder)))
  }

  /// Relative paths and contents of all files, without what has a leading dot.
  func contents() throws -> [String: String] {
    var found: [String: String] = [:]
    let enumerator = FileManager.default.enumerator(atPath: path.string)
    while let name = enumerator?.nextObject() as? String {
      guard !name.split(separator: "/").contains(where: { $0.hasPrefix(".") }),
        let bytes = path.appending(name).contents
      else { continue }
      var isFolder: ObjCBool = false
      _ = FileManager.default.fileExists(
        atPath: path.appending(name).string, isDirectory: &isFolder)
      if !isFolder.boolValue { found[name] = String(decoding: bytes, as: UTF8.self) }
    }
    return found
  }

  /// Names in `.incoming`.
  func leftovers() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: path.appending(".incoming").string).sorted()
  }
}
