import FoundationEssentials
import SystemPackage

/// A folder of one test, removed with it.
final class PictureFolder: Sendable {
  let path: FilePath

  init() throws {
    path = FilePath(FileManager.default.temporaryDirectory.path(percentEncoded: false))
      .appending("scanmill-codecs-\(UUID().uuidString)")
    try FileManager.default.createDirectory(atPath: path.string, withIntermediateDirectories: true)
  }

  deinit {
    try? FileManager.default.removeItem(atPath: path.string)
  }

  func write(_ bytes: [UInt8], to name: String) throws -> FilePath {
    let file = path.appending(name)
    try Data(bytes).write(to: URL(filePath: file.string))
    return file
  }

  /// The names in it, sorted.
  func names() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: path.string).sorted()
  }
}
