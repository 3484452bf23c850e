@testable import Core
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import Receiving

/// The system's files, of which a write to the disk takes as long as a test wants.
final class HeldSyncFiles: StagingFiles {
  private let system = SystemStagingFiles()
  private let state = Mutex((isHeld: true, waiting: 0))

  /// How many calls wait.
  var waiting: Int { state.withLock { $0.waiting } }

  /// Lets all calls end, now and later.
  func release() { state.withLock { $0.isHeld = false } }

  func sync(_ file: FileDescriptor, at path: FilePath) throws(FileError) {
    state.withLock { $0.waiting += 1 }
    Waiting.until("the end of a write to the disk") { !state.withLock { $0.isHeld } }
    state.withLock { $0.waiting -= 1 }
  }

  func makeFolder(_ name: String, in folder: HeldFolder) throws(FileError) -> HeldFolder {
    try system.makeFolder(name, in: folder)
  }
  func removeFolder(_ name: String, in folder: HeldFolder) throws(FileError) {
    try system.removeFolder(name, in: folder)
  }
  func create(_ name: String, in folder: HeldFolder) throws(FileError) -> FileDescriptor {
    try system.create(name, in: folder)
  }
  func reopen(_ name: String, in folder: HeldFolder) throws(FileError) -> FileDescriptor {
    try system.reopen(name, in: folder)
  }
  func write(
    _ bytes: UnsafeRawBufferPointer, to file: FileDescriptor, at path: FilePath
  ) throws(FileError) {
    try system.write(bytes, to: file, at: path)
  }
  func truncate(_ file: FileDescriptor, to bytes: Int64, at path: FilePath) throws(FileError) {
    try system.truncate(file, to: bytes, at: path)
  }
  func close(_ file: FileDescriptor, at path: FilePath) throws(FileError) {
    try system.close(file, at: path)
  }
  func rename(
    _ name: String, in folder: HeldFolder, to target: HeldFolder, as newName: String
  ) throws(FileError) {
    try system.rename(name, in: folder, to: target, as: newName)
  }
  func share(
    _ name: String, in folder: HeldFolder, to target: HeldFolder, as newName: String
  ) throws(FileError) {
    try system.share(name, in: folder, to: target, as: newName)
  }
  func remove(_ name: String, in folder: HeldFolder) throws(FileError) {
    try system.remove(name, in: folder)
  }
  func syncFolder(_ folder: HeldFolder) throws(FileError) {}
  func freeBytes(at path: FilePath) -> Int64? { system.freeBytes(at: path) }
}
