import FoundationEssentials
@testable import Core
import SystemPackage
import TestSupport
import Testing

/// Texts of small exports, byte by byte: a change of a format shows as a change of a file in `Tests/Snapshots`.
enum Snapshots {
  /// Compares with `Tests/Snapshots/NAME.txt`. What differs is written to `.build/snapshots/NAME.txt`, to be
  /// looked at and, when it is right, to be copied.
  static func check(_ text: String, _ name: String) throws {
    let file = Fixtures.projectRoot.appending("Tests/Snapshots/\(name).txt")
    let expected = try? String(contentsOf: URL(filePath: file.string), encoding: .utf8)
    if text == expected { return }
    let folder = Fixtures.projectRoot.appending(".build/snapshots")
    try FileManager.default.createDirectory(
      atPath: folder.string, withIntermediateDirectories: true)
    let actual = folder.appending("\(name).txt")
    try Data(text.utf8).write(to: URL(filePath: actual.string))
    Issue.record("\(name) is not what it was: compare \(file) with \(actual)")
  }
}
