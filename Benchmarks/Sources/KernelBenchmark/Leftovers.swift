import Core
import Synchronization
import SystemPackage

/// Files to remove at the end.
enum Leftovers {
  private static let files = Mutex<[FilePath]>([])

  static func add(_ file: FilePath) { files.withLock { $0.append(file) } }

  static func remove() {
    for file in files.withLock({ $0 }) { try? FileSystem.remove(file) }
  }
}
