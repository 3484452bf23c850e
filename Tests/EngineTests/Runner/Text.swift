import FoundationEssentials
@testable import Core
import SystemPackage

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
