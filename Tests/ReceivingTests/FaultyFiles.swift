@testable import Core
import Synchronization
import SystemPackage

@testable import Receiving

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

  init(free: Int64? = nil) { self.free = free }

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
