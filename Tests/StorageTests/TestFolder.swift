import FoundationEssentials
import SystemPackage

/// A folder of one test, removed with it.
final class TestFolder: Sendable {
  let path: FilePath

  init() throws {
    path = FilePath(FileManager.default.temporaryDirectory.path(percentEncoded: false))
      .appending("scanmill-storage-\(UUID().uuidString)")
    try FileManager.default.createDirectory(atPath: path.string, withIntermediateDirectories: true)
  }

  deinit {
    try? FileManager.default.removeItem(atPath: path.string)
  }

  @discardableResult
  func write(_ bytes: [UInt8], to name: String) throws -> FilePath {
    let file = path.appending(name)
    try Data(bytes).write(to: URL(filePath: file.string))
    return file
  }

  func link(_ name: String, to target: String) throws {
    try FileManager.default.createSymbolicLink(
      atPath: path.appending(name).string, withDestinationPath: target)
  }

  func bytes(of name: String) throws -> [UInt8] {
    Array(try Data(contentsOf: URL(filePath: path.appending(name).string)))
  }
}
