import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing

@Suite("Keeping runs for months", .runsPrograms)
struct KeepRunsTests {
  private let folder: TemporaryFolder
  private var output: String { folder.path.appending("out").string }

  init() throws { folder = try TemporaryFolder() }

  private func synthesize(_ id: String) throws -> String {
    try Program.synthesize(
      "scannet --frames 2 --width 324 --height 242 --id \(id)", to: folder.path.appending("in"))
    return folder.path.appending("in").appending(id).string
  }

  private var runs: [String] {
    get throws {
      try FileManager.default.contentsOfDirectory(atPath: output + "/runs").sorted()
    }
  }

  private func hasEvents(_ run: String) -> Bool {
    FileManager.default.fileExists(atPath: "\(output)/runs/\(run)/events.jsonl")
  }

  @Test("Old runs lose events and logs, and every other verb says what it said before")
  func all() throws {
    let good = try synthesize("good")
    let bad = try synthesize("bad")
    let depth = bad + "/bad.depth"
    try #require(FileManager.default.fileExists(atPath: depth))
    try FilePath(depth).write("nonsense")
    try Program.run("run \(good) --output \(output)").succeeds()
    #expect(try Program.run("run \(bad) --output \(output)").status == 1)
    let ids = try runs
    #expect(ids.count == 2)
    let questions = [
      ["status", output], ["status", output, "--json"],
      ["explain", "good", "color", "--output", output],
      ["explain", "bad", "depth", "--output", output], ["run", good, "-n", "--output", output],
    ]
    // When a capture was last worked on is told by its run then, to the end of that.
    func answers() throws -> [String] {
      try questions.map { question in
        try Program.run(question).output.lines
          .map { $0.contains("\"lastRun\" : \"") ? "lastRun" : $0 }.joined(separator: "\n")
      }
    }
    let before = try answers()
    #expect(before[1].contains("lastRun"))

    // Lists by default.
    let listed = try Program.run("clean \(output) --keep-runs 0s").succeeds()
    #expect(listed.output.contains("runs/\(ids[0])") && !listed.output.contains(ids[1]))
    #expect(listed.output.contains("would be removed; add --yes"))
    #expect(ids.allSatisfy(hasEvents))
    let removed = try Program.run("clean \(output) --keep-runs 0s --yes")
    #expect(removed.status == 0 && removed.output.contains("removed "))
    #expect(try runs == ids)
    #expect(!hasEvents(ids[0]) && hasEvents(ids[1]))
    #expect(FileManager.default.fileExists(atPath: "\(output)/runs/\(ids[0])/run.json"))
    #expect(try answers() == before)
    #expect(
      try Program.run("clean \(output) --keep-runs 0s --yes").output
        == "nothing to remove\n")
    #expect(
      try Program.run("clean \(output) --keep-runs 90d").output == "nothing to remove\n")
  }

  @Test(
    "Wrong words have their exit codes",
    arguments: [
      (["--keep-runs", "90"], 64), (["--keep-runs", "2026-01-01"], 64),
      (["--keep-runs", "-1d"], 64), (["--keep-runs", "90d", "--failed"], 64),
      (["--keep-runs", "90d"], 65),
    ] as [([String], Int32)])
  func exitCodes(words: [String], status: Int32) throws {
    let result = try Program.run("clean \(folder.path) \(words)")
    #expect(result.status == status, "\(result.errors)")
    #expect(result.output.isEmpty && !result.errors.isEmpty)
  }
}
