import FoundationEssentials
import Core
import SystemPackage
import Glibc

/// A folder of one test, removed with this value, and in any case when the process of the tests ends.
public final class TemporaryFolder: Sendable {
  public let path: FilePath

  public init() throws {
    path = Self.place.appending(UUID().uuidString)
    try FileSystem.makeFolder(path)
  }

  deinit {
    try? FileSystem.remove(path)
  }

  /// One for what is made once for all tests of the process and never changed.
  public static func ofThisProcess() throws -> FilePath { try shared.get().path }

  private static let shared = Result { try TemporaryFolder() }

  /// What holds all of a process. In memory, where that has 4 GB and programs may be run from it: publications flush the
  /// whole file system, and a disk takes its time for thousands of small files.
  private static let place: FilePath = {
    atexit { try? FileSystem.remove(TemporaryFolder.place) }
    var memory = statvfs()
    // ST_NOEXEC, which Swift does not see.
    let noExecution: UInt = 8
    let isUsable =
      statvfs("/dev/shm", &memory) == 0 && memory.f_flag & noExecution == 0
      && UInt64(memory.f_bavail) * UInt64(memory.f_frsize) > 4 << 30
      && FileManager.default.isWritableFile(atPath: "/dev/shm")
    let disk = FileManager.default.temporaryDirectory.path(percentEncoded: false)
    return FilePath(isUsable ? "/dev/shm" : disk).appending("scanmill-test-\(getpid())")
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
