import FoundationEssentials
import Storage
import SystemPackage

#if canImport(Glibc)
  import Glibc
#endif

/// A folder of one test, removed with this value.
public final class TemporaryFolder: Sendable {
  public let path: FilePath

  /// - Parameter isInMemory: in memory where there is such a place: publications flush the whole file system, and on a
  ///   disk that others write to that takes its time.
  public init(isInMemory: Bool = false) throws {
    let name = "scanmill-test-\(UUID().uuidString)"
    path = (isInMemory ? Self.memory ?? Self.disk : Self.disk).appending(name)
    try FileSystem.makeFolder(path)
  }

  deinit {
    try? FileSystem.remove(path)
  }

  /// One for what is made once for all tests of a process and never changed; removed when the process ends.
  public static func ofThisProcess() throws -> FilePath { try shared.get().path }

  private static let shared = Result {
    let folder = try TemporaryFolder()
    atexit { if let path = try? TemporaryFolder.ofThisProcess() { try? FileSystem.remove(path) } }
    return folder
  }

  private static let disk = FilePath(
    FileManager.default.temporaryDirectory.path(percentEncoded: false))
  private static let memory =
    FileManager.default.isWritableFile(atPath: "/dev/shm") ? FilePath("/dev/shm") : nil

  @discardableResult
  public func write(_ bytes: [UInt8], to name: String) throws -> FilePath {
    let file = path.appending(name)
    try Data(bytes).write(to: URL(filePath: file.string))
    return file
  }

  public func link(_ name: String, to target: String) throws {
    try FileManager.default.createSymbolicLink(
      atPath: path.appending(name).string, withDestinationPath: target)
  }

  public func bytes(of name: String) throws -> [UInt8] {
    Array(try Data(contentsOf: URL(filePath: path.appending(name).string)))
  }
}
