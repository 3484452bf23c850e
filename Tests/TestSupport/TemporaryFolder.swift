import FoundationEssentials
import Storage
import SystemPackage

/// A folder that goes with the test.
public final class TemporaryFolder: Sendable {
  public let path: FilePath

  public init() throws {
    let name = "scanmill-test-\(UUID().uuidString)"
    path = FilePath(FileManager.default.temporaryDirectory.path).appending(name)
    try FileSystem.makeFolder(path)
  }

  deinit {
    try? FileSystem.remove(path)
  }
}
