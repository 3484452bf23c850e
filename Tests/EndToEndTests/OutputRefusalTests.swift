import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing

/// Outputs that overlap captures, through the built binary: refused before anything is made.
@Suite(.runsPrograms) struct OutputRefusalTests {
  private let folder: TemporaryFolder
  private var place: FilePath { folder.path.appending("x") }

  init() throws {
    folder = try TemporaryFolder()
    for (id, family) in [("a", "strabo"), ("b", "scannet")] {
      try Program.synthesize("\(family) --frames 3 --width 160 --height 120 --id \(id)", to: place)
    }
  }

  private func run(_ input: String, _ output: String, _ more: String...) throws -> Program.Result {
    try Program.run(
      [
        "run", folder.path.pushing(FilePath(input)).string, "--output",
        output.isEmpty ? "" : folder.path.pushing(FilePath(output)).string,
      ] + more)
  }

  private func everything() throws -> [String] {
    let walk = try #require(FileManager.default.enumerator(atPath: folder.path.string))
    return walk.compactMap { $0 as? String }.sorted()
  }

  @Test(arguments: [
    ("x", "x"), ("x/a", "x/a"), ("x/a", "x/a/results/deep"), ("x/b", "x/b"), ("x/b", "x/b/out"),
    ("x/a", "x/b/out"), ("x/a", "x"), ("x", ""),
  ])
  func `an output that is a capture, lies in one or holds one is refused`(
    input: String, output: String
  ) throws {
    let before = try everything()
    for dryRun in [[], ["-n"]] {
      let result = try Program.run(
        [
          "run", folder.path.pushing(FilePath(input)).string, "--output",
          output.isEmpty ? "" : folder.path.pushing(FilePath(output)).string,
        ] + dryRun)
      #expect(result.status == 64, "\(result.errors)")
      #expect(result.errors.contains("--output"))
    }
    #expect(try everything() == before)
  }

  @Test func `somebody else's capture where results would go is refused`() throws {
    try FileSystem.makeFolder(folder.path.appending("other"))
    try FileSystem.rename(place.appending("b"), to: folder.path.appending("b"))
    try FileSystem.rename(place.appending("a"), to: place.appending("b"))
    let before = try everything()
    #expect(try run("b", "x").status == 64)
    #expect(try everything() == before)
  }

  @Test func `an output inside the searched tree is left out of the search`() throws {
    for _ in 0..<2 {
      let result = try run("x", "x/out").succeeds()
      #expect(result.output.lines.count == 2)
    }
    // Also when results go elsewhere.
    #expect(try run("x", "elsewhere").output.lines.count == 2)
  }
}
