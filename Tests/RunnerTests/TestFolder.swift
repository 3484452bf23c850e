import FoundationEssentials
import Storage
import SystemPackage

/// A folder of one test, removed with it.
final class TestFolder: Sendable {
  let path: FilePath

  init() throws {
    path = Self.place.appending("scanmill-runner-\(UUID().uuidString)")
    try FileManager.default.createDirectory(atPath: path.string, withIntermediateDirectories: true)
  }

  /// In memory where there is such a place: publications flush the whole file system, and on a disk
  /// that others write to that takes its time.
  private static let place =
    FileManager.default.isWritableFile(atPath: "/dev/shm")
    ? FilePath("/dev/shm")
    : FilePath(FileManager.default.temporaryDirectory.path(percentEncoded: false))

  deinit {
    try? FileManager.default.removeItem(atPath: path.string)
  }
}

/// Small texts on disk.
enum Text {
  static func write(_ text: String, to path: FilePath) throws {
    try FileManager.default.createDirectory(
      atPath: path.removingLastComponent().string, withIntermediateDirectories: true)
    try Data(text.utf8).write(to: URL(filePath: path.string))
  }

  /// Into the same file, without making a new one.
  static func overwrite(_ text: String, at path: FilePath) throws {
    try OutputFile.write(Array(text.utf8), to: path)
  }

  /// `nil` when there is no such file.
  static func read(_ path: FilePath) -> String? {
    (try? Data(contentsOf: URL(filePath: path.string))).map { String(decoding: $0, as: UTF8.self) }
  }
}
