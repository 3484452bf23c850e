import Core
import SystemPackage
import Glibc

/// The system's own files.
public struct SystemStagingFiles: StagingFiles {
  public init() {}

  public func makeFolder(_ name: String, in folder: HeldFolder) throws(FileError) -> HeldFolder {
    try folder.makeFolder(name)
  }

  public func removeFolder(_ name: String, in folder: HeldFolder) throws(FileError) {
    folder.removeIfEmpty(name)
  }

  public func create(_ name: String, in folder: HeldFolder) throws(FileError) -> FileDescriptor {
    try folder.create(name)
  }

  public func reopen(_ name: String, in folder: HeldFolder) throws(FileError) -> FileDescriptor {
    guard try folder.entry(name)?.fileStamp != nil else {
      throw FileError(
        .noSuchFileOrDirectory, path: folder.path.appending(name), operation: "open")
    }
    return try folder.append(to: name)
  }

  public func write(
    _ bytes: UnsafeRawBufferPointer, to file: FileDescriptor, at path: FilePath
  ) throws(FileError) {
    try Self.call(path, "write") { _ = try file.writeAll(bytes) }
  }

  public func truncate(
    _ file: FileDescriptor, to bytes: Int64, at path: FilePath
  ) throws(FileError) {
    try Self.call(path, "write") {
      if ftruncate(file.rawValue, off_t(bytes)) != 0 { throw Errno(rawValue: errno) }
    }
  }

  public func sync(_ file: FileDescriptor, at path: FilePath) throws(FileError) {
    try Self.call(path, "flush") {
      if fdatasync(file.rawValue) != 0 { throw Errno(rawValue: errno) }
    }
  }

  public func close(_ file: FileDescriptor, at path: FilePath) throws(FileError) {
    try Self.call(path, "close") { try file.close() }
  }

  public func rename(
    _ name: String, in folder: HeldFolder, to target: HeldFolder, as newName: String
  ) throws(FileError) {
    try folder.rename(name, to: target, as: newName)
  }

  public func share(
    _ name: String, in folder: HeldFolder, to target: HeldFolder, as newName: String
  ) throws(FileError) {
    try folder.share(name, to: target, as: newName)
    guard let file = try target.openFile(newName) else { return }
    let path = target.path.appending(newName)
    do throws(FileError) {
      try sync(file, at: path)
    } catch {
      try? file.close()
      try? target.remove(newName)
      throw error
    }
    try close(file, at: path)
  }

  public func remove(_ name: String, in folder: HeldFolder) throws(FileError) {
    try folder.remove(name)
  }

  public func syncFolder(_ folder: HeldFolder) throws(FileError) { try folder.flush() }

  public func freeBytes(at path: FilePath) -> Int64? {
    (try? FileSystemSpace(at: path))?.freeBytes
  }

  private static func call(
    _ path: FilePath, _ operation: String, _ body: () throws -> Void
  ) throws(FileError) {
    do {
      try body()
    } catch {
      throw FileError(error, path: path, operation: operation)
    }
  }
}
