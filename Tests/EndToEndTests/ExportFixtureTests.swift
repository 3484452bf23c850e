import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing

@Suite("Exports of fixtures of all families", .runsPrograms, .enabled(if: Fixtures.arePresent))
struct ExportFixtureTests {
  @Test(
    "Every case gives a right export of what is left, with counts, or a reason",
    arguments: Rounds.every(5, of: FixtureTests.all))
  func everyCase(_ fixture: FixtureCase) throws {
    let output = try TemporaryFolder()
    let arguments = [
      "run", fixture.input.string, "--output", output.path.string, "--pipeline", "exports",
    ]
    let result = try Program.run("\(arguments) --json")
    let capture = try result.json().capture()
    let stages = try capture.objects("stages")
    let folder = output.path.appending(try #require(capture["id"] as? String))
    var failed: Set<String> = []
    for stage in stages {
      let name = stage["stage"] as? String ?? ""
      let message = stage["message"] as? String ?? ""
      let isThere = FileSystem.exists(folder.appending(name).appending("artifact.json"))
      switch stage["outcome"] as? String {
      case "made": break
      case "not-possible":
        #expect(!message.isEmpty, "\(name) says why")
        #expect(!FileSystem.exists(folder.appending(name)), "\(name) has no folder")
      case "failed", "blocked":
        failed.insert(name)
        #expect(!message.isEmpty, "\(name) says why")
        if name.hasPrefix("export-") { #expect(!isThere, "\(name): \(message)") }
      default: Issue.record("\(name): \(stage["outcome"] ?? "")")
      }
    }
    // Exports fail only where a stream is there that cannot be read.
    let exports = failed.filter { $0.hasPrefix("export-") }
    let streams = try folder.appending("capture.json").json()["errors"] as? [Any] ?? []
    #expect(exports.isEmpty || !streams.isEmpty || failed.contains("color"), "\(exports)")
    try Invariants(folder).check()
    try ExportInvariants(capture: folder).check()
    #expect(
      !FileSystem.exists(folder.appending("jpeg-pictures")) || !exports.isEmpty,
      "shared pictures are removed")
    if result.status == 0, FixtureTests.repeated.contains(fixture.folder) {
      let again = try Program.run(arguments).succeeds()
      #expect(again.errors.contains("nothing to do"), "\(again.errors)")
    }
  }
}
