@testable import Core
import SystemPackage
import TestSupport
import Testing

@Suite("A run.json that is damaged, from outside", .runsPrograms)
struct DamagedRunFileTests {
  @Test("status, report and explain say so once, name the file, and answer all the same")
  func told() throws {
    let scene = try Scene("a", frames: 3)
    try scene.run().succeeds()
    let root = scene.output
    let before = try Program.run("status \(root) --json")
    #expect(!before.errors.contains("damaged"))
    let runs = root.appending("runs")
    for run in try HeldFolder.following(runs).list() {
      try OutputFile.write(
        Array(#"{"started":"#.utf8), to: runs.appending(run.name).appending("run.json"))
    }
    for words in [
      ["status", root.string, "--json"], ["report", root.string, "--format", "json"],
      ["explain", "a", "depth", "--output", root.string],
    ] {
      let result = try Program.run(words)
      #expect(result.status == 0, "\(words): \(result.errors)")
      let lines = result.errors.lines.filter { $0.contains("damaged") }
      #expect(lines.count == 1, "\(words): \(result.errors)")
      #expect(lines.first?.hasPrefix("note: ") == true)
      #expect(lines.first?.contains("/run.json is damaged: ") == true)
      #expect(lines.first?.contains("restore the file") == true)
    }
  }
}
