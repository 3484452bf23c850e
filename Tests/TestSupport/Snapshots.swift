import Foundation
import Core
import SystemPackage
import Testing

/// Texts that the program writes, byte by byte: a change of a format shows as a change of a file in `Tests/Snapshots`.
public enum Snapshots {
  /// Whether they are written anew, after a deliberate change; what has changed is then for `git diff` to show.
  private static let areRenewed = ProcessInfo.processInfo.environment["SCANMILL_SNAPSHOTS"] == "1"

  /// Compares with `Tests/Snapshots/NAME.txt`. What differs is written to `.build/snapshots/NAME.txt`, to be
  /// looked at and, when it is right, to be copied.
  public static func check(
    _ text: String, _ name: String, at location: SourceLocation = #_sourceLocation
  ) throws {
    let file = Fixtures.projectRoot.appending("Tests/Snapshots/\(name).txt")
    let expected = try? file.text()
    if text == expected { return }
    let actual =
      areRenewed ? file : Fixtures.projectRoot.appending(".build/snapshots/\(name).txt")
    try FileManager.default.createDirectory(
      atPath: actual.removingLastComponent().string, withIntermediateDirectories: true)
    try actual.write(text)
    if areRenewed { return }
    Issue.record(
      "\(name) is not what it was: compare \(file) with \(actual)", sourceLocation: location)
  }
}
