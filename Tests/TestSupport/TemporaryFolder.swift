import FoundationEssentials
import Core
import SystemPackage
import Glibc

/// A folder of one test, removed with this value, and in any case when the process of the tests ends.
public final class TemporaryFolder: Sendable {
  public let path: FilePath

  /// - Parameter isInMemory: in memory where that has 1 GB for it: publications flush the whole file system, and a disk
  ///   takes its time for thousands of small files.
  public init(isInMemory: Bool = false) throws {
    path = (isInMemory ? Self.memory ?? Self.disk : Self.disk).appending(UUID().uuidString)
    try FileSystem.makeFolder(path)
  }

  deinit {
    try? FileSystem.remove(path)
  }

  /// One for what is made once for all tests of the process and never changed.
  public static func ofThisProcess() throws -> FilePath { try shared.get().path }

  private static let shared = Result { try TemporaryFolder() }

  /// What holds all of a process.
  private static let name = "scanmill-test-\(getpid())"
  private static let disk: FilePath = {
    atexit {
      for folder in [TemporaryFolder.disk, TemporaryFolder.memory] {
        if let folder { try? FileSystem.remove(folder) }
      }
    }
    return FilePath(FileManager.default.temporaryDirectory.path(percentEncoded: false))
      .appending(name)
  }()
  private static let memory: FilePath? = {
    guard FileManager.default.isWritableFile(atPath: "/dev/shm"),
      let space = try? FileSystemSpace(at: "/dev/shm"), space.freeBytes > 1 << 30
    else { return nil }
    return FilePath("/dev/shm").appending(name)
  }()

  @discardableResult
  public func write(_ bytes: [UInt8], to name: String) throws -> FilePath {
    let file = path.appending(name)
    try file.write(bytes)
    return file
  }

  public func link(_ name: String, to target: String) throws {
    try path.appending(name).link(to: target)
  }

  public func bytes(of name: String) throws -> [UInt8] {
    Array(try path.appending(name).data())
  }
}
