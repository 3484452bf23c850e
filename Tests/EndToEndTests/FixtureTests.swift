@testable import Media
import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing

@Suite(
  "Fixtures of all families through the built binary", .runsPrograms,
  .enabled(if: Fixtures.arePresent))
struct FixtureTests {
  static let families = [
    "scannet", "arkit-scanner", "multiscan", "vi-slam", "strabo", "stray-scanner", "3d-scanner-app",
    "record3d",
  ]

  static let all = families.flatMap { family in Fixtures.cases(of: family) }
  /// Those that are inspected as well, and run a second time.
  static let repeated = Set(Rounds.every(4, of: all).map(\.folder))

  @Test("Every case comes out as its truth says", arguments: all)
  func everyCase(_ fixture: FixtureCase) throws {
    let expected = try Expectation(fixture)
    let output = try TemporaryFolder()
    let arguments = ["run", fixture.input.string, "--output", output.path.string]
    let result = try Program.run("\(arguments) --json")
    #expect(result.status == expected.exitCode, "\(result.errors)")
    let capture = try expected.onlyCapture(of: result.json())
    let folder = output.path.appending(try #require(capture["id"] as? String))
    try expected.checkFailures(in: capture)
    try expected.checkWarnings(in: capture)
    try expected.checkPictures("depth", in: folder)
    try expected.checkPictures("confidence", in: folder)
    try expected.checkFrameTimes(in: folder)
    try expected.checkColorCount(in: folder)
    try expected.checkColorIndices(in: folder)
    try expected.checkPlanes(in: folder)
    try expected.checkIMU(in: folder)
    try expected.checkThumbnail(in: folder)
    try Invariants(folder).check()

    guard Self.repeated.contains(fixture.folder) else { return }
    let inspection = try Program.run("inspect \(fixture.input) --json").json()
    try expected.checkWarnings(in: inspection)
    let document = try folder.appending("capture.json").json()
    #expect(
      inspection as NSDictionary == document as NSDictionary, "capture.json is the inspection")
    if expected.exitCode == 0 {
      let again = try Program.run(arguments).succeeds()
      #expect(again.errors.contains("nothing to do"))
    }
  }
}

extension FixtureCase {
  private struct Named: Decodable { var input: String? }

  /// The capture's folder, under whatever name the case keeps it.
  var input: FilePath {
    if let named = try? json(Named.self, from: "expected.json").input {
      return folder.pushing(FilePath(named))
    }
    if FileSystem.isFolder(capture) { return capture }
    let names = (try? FileSystem.names(in: folder)) ?? []
    return names.map { folder.appending($0) }.first(where: FileSystem.isFolder) ?? folder
  }
}
