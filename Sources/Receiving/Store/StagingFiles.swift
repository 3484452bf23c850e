import Core
import SystemPackage

/// The changes that the store makes to files. Tests put failures between any two of them.
public protocol StagingFiles: Sendable {
  func makeFolder(_ name: String, in folder: HeldFolder) throws(FileError) -> HeldFolder
  func removeFolder(_ name: String, in folder: HeldFolder) throws(FileError)
  /// Creates a file; an existing one is an error.
  func create(_ name: String, in folder: HeldFolder) throws(FileError) -> FileDescriptor
  /// Opens an existing file for appending.
  func reopen(_ name: String, in folder: HeldFolder) throws(FileError) -> FileDescriptor
  func write(_ bytes: UnsafeRawBufferPointer, to file: FileDescriptor, at path: FilePath)
    throws(FileError)
  func truncate(_ file: FileDescriptor, to bytes: Int64, at path: FilePath) throws(FileError)
  /// The file's content, and what is needed to read it, is on disk afterwards.
  func sync(_ file: FileDescriptor, at path: FilePath) throws(FileError)
  func close(_ file: FileDescriptor, at path: FilePath) throws(FileError)
  func rename(
    _ name: String, in folder: HeldFolder, to target: HeldFolder, as newName: String
  ) throws(FileError)
  /// Puts the content of a file under a name that does not exist in another folder: as a clone, else as a second name of
  /// the file, else as a copy. It is on disk afterwards.
  func share(
    _ name: String, in folder: HeldFolder, to target: HeldFolder, as newName: String
  ) throws(FileError)
  func remove(_ name: String, in folder: HeldFolder) throws(FileError)
  /// Names created, renamed and removed in the folder are on disk afterwards.
  func syncFolder(_ folder: HeldFolder) throws(FileError)
  /// Space for this user; `nil` if unknown.
  func freeBytes(at path: FilePath) -> Int64?
}
