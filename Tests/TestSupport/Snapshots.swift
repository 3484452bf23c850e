import Foundation
import Core
import SystemPackage
import Testing

/// Texts that the program writes, byte by byte: a change of a format shows as a change of a file in `Tests/Snapshots`.
public enum Snapshots {
  /// Whether they are written anew, after a deliberate change; what has changed is then for `git diff` to show.
  private static let areRenewed = ProcessInfo.processInfo.environment["SCANMILL_SNAPSHOTS"] == "1"

  /// Compares with `Tests/Snapshots/NAME.txt`.
  public static func check(
    _ text: String, _ name: String, at location: SourceLocation = #_sourceLocation
  ) throws {
    try check(text, file: "Tests/Snapshots/\(name).txt", at: location)
  }

  /// Compares with a file of the project. What differs is written below `.build/snapshots`, to be looked at and, when
  /// it is right, to be copied.
  public static func check(
    _ text: String, file: String, at location: SourceLocation = #_sourceLocation
  ) throws {
    let kept = Fixtures.projectRoot.pushing(FilePath(file))
    let expected = try? String(contentsOf: URL(filePath: kept.string), encoding: .utf8)
    if text == expected { return }
    let actual =
      areRenewed ? kept : Fixtures.projectRoot.appending(".build/snapshots").pushing(FilePath(file))
    try FileManager.default.createDirectory(
      atPath: actual.removingLastComponent().string, withIntermediateDirectories: true)
    try Data(text.utf8).write(to: URL(filePath: actual.string))
    if areRenewed { return }
    Issue.record(
      "\(file) is not what it was: compare it with \(actual)", sourceLocation: location)
  }
}
