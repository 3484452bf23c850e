import Foundation
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import Captures
@testable import Core
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

  func verify(_ name: String, _ content: String) throws -> UploadStore.Match {
    try store.verify([name], md5: Self.md5(content)).answer
  }

  func manifest(_ folder: String) throws -> UploadManifest? {
    UploadManifest(in: try HeldFolder(reading: path.appending(folder)))
  }

  /// Relative paths and contents of all files, without what has a leading dot.
  func contents() throws -> [String: String] {
    try path.filesBelow().filter { name in
      !name.split(separator: "/").contains { $0.hasPrefix(".") }
    }.reduce(into: [:]) { found, name in
      found[name] = String(decoding: try path.appending(name).data(), as: UTF8.self)
    }
  }

  /// Names in `.incoming`.
  func leftovers() throws -> [String] {
    try FileSystem.names(in: path.appending(".incoming"))
  }
}

/// The system's files with a failure at one call, or from one call on, as after a kill.
final class FaultyFiles: StagingFiles {
  enum Fault: Sendable, Equatable {
    /// Call number `at` (from 0) fails once.
    case once(at: Int, Errno)
    /// Call number `at` and all later ones fail: the process is gone.
    case death(at: Int)
  }

  private let system = SystemStagingFiles()
  private struct State {
    var fault: Fault?
    var calls: [String] = []
  }
  private let state = Mutex(State())
  let free: Int64?

  /// Flushes of files that wait, and whether they still have to.
  private let flushes: Mutex<(isHeld: Bool, waiting: Int)>

  /// - Parameter holdsFlushes: until `release`.
  init(free: Int64? = nil, holdsFlushes: Bool = false) {
    self.free = free
    flushes = Mutex((holdsFlushes, 0))
  }

  /// How many flushes wait.
  var waiting: Int { flushes.withLock { $0.waiting } }

  /// Lets all flushes end, now and later.
  func release() { flushes.withLock { $0.isHeld = false } }

  /// Counts from 0 again.
  func arm(_ fault: Fault?) {
    state.withLock { state in
      state.fault = fault
      state.calls = []
    }
  }

  var calls: [String] { state.withLock { $0.calls } }

  private func step(_ call: String, _ path: FilePath, _ operation: String) throws(FileError) {
    let failure = state.withLock { state -> Errno? in
      defer { state.calls.append(call) }
      switch state.fault {
      case .once(let at, let code) where state.calls.count == at: return code
      case .death(let at) where state.calls.count >= at: return .ioError
      default: return nil
      }
    }
    if let failure { throw FileError(failure, path: path, operation: operation) }
  }

  func makeFolder(_ name: String, in folder: HeldFolder) throws(FileError) -> HeldFolder {
    try step("makeFolder", folder.path, "make folder")
    return try system.makeFolder(name, in: folder)
  }

  func removeFolder(_ name: String, in folder: HeldFolder) throws(FileError) {
    try step("removeFolder", folder.path, "remove folder")
    try system.removeFolder(name, in: folder)
  }

  func create(_ name: String, in folder: HeldFolder) throws(FileError) -> FileDescriptor {
    try step("create", folder.path, "create")
    return try system.create(name, in: folder)
  }

  func reopen(_ name: String, in folder: HeldFolder) throws(FileError) -> FileDescriptor {
    try step("reopen", folder.path, "open")
    return try system.reopen(name, in: folder)
  }

  func write(
    _ bytes: UnsafeRawBufferPointer, to file: FileDescriptor, at path: FilePath
  ) throws(FileError) {
    do throws(FileError) {
      try step("write", path, "write")
    } catch {
      // A full disk takes a part.
      try system.write(
        UnsafeRawBufferPointer(rebasing: bytes.prefix(bytes.count / 2)), to: file, at: path)
      throw error
    }
    try system.write(bytes, to: file, at: path)
  }

  func truncate(_ file: FileDescriptor, to bytes: Int64, at path: FilePath) throws(FileError) {
    try step("truncate", path, "write")
    try system.truncate(file, to: bytes, at: path)
  }

  func sync(_ file: FileDescriptor, at path: FilePath) throws(FileError) {
    try step("sync", path, "flush")
    flushes.withLock { $0.waiting += 1 }
    Waiting.until("the end of a flush") { !flushes.withLock { $0.isHeld } }
    flushes.withLock { $0.waiting -= 1 }
  }

  func close(_ file: FileDescriptor, at path: FilePath) throws(FileError) {
    try system.close(file, at: path)
    try step("close", path, "close")
  }

  func rename(
    _ name: String, in folder: HeldFolder, to target: HeldFolder, as newName: String
  ) throws(FileError) {
    try step("rename", target.path, "rename")
    try system.rename(name, in: folder, to: target, as: newName)
  }

  func share(
    _ name: String, in folder: HeldFolder, to target: HeldFolder, as newName: String
  ) throws(FileError) {
    try step("share", target.path, "share")
    try system.share(name, in: folder, to: target, as: newName)
  }

  func remove(_ name: String, in folder: HeldFolder) throws(FileError) {
    try step("remove", folder.path, "remove")
    try system.remove(name, in: folder)
  }

  func syncFolder(_ folder: HeldFolder) throws(FileError) {
    try step("syncFolder", folder.path, "flush")
  }

  func freeBytes(at path: FilePath) -> Int64? { free ?? system.freeBytes(at: path) }
}
