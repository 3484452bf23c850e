import Dispatch
import Core
import Synchronization
import SystemPackage

/// Writes what was received to disk while more is received, so that little is left at the end. At
/// most one such call is under way.
final class SyncAhead: Sendable {
  private let files: any StagingFiles
  private let path: FilePath
  private let group = DispatchGroup()
  private let failure = Mutex<FileError?>(nil)
  private static let queue = DispatchQueue(label: "sync", attributes: .concurrent)

  init(_ files: any StagingFiles, _ path: FilePath) {
    self.files = files
    self.path = path
  }

  /// Waits for the previous call. Throws its error.
  func start(_ file: FileDescriptor) throws(FileError) {
    try wait()
    Self.queue.async(group: group) { [self] in
      do throws(FileError) {
        try files.sync(file, at: path)
      } catch {
        failure.withLock { $0 = error }
      }
    }
  }

  /// Waits until no call is under way. Throws the error of the last one, each time.
  func wait() throws(FileError) {
    group.wait()
    if let error = failure.withLock({ $0 }) { throw error }
  }
}
