import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing

@Suite("Runs beside and after each other", .runsPrograms)
struct TogetherTests {
  @Test("A second run waits for the first, or with --no-wait names it and leaves with 75")
  func twoRuns() throws {
    let scene = try Scene("a")
    let go = scene.folder.path.appending("go")
    let pipeline = try scene.pipeline(
      """
        slow:
          uses: command
          with: {command: [sh, -c, "until test -e '\(go)'; do sleep 0.1; done; echo > {output}/x"]}
      """)
    let first = try scene.start("--pipeline \(pipeline)")
    try scene.wait("the slow stage") { scene.hasStarted("slow") }
    let impatient = try scene.run("--pipeline \(pipeline) --no-wait")
    #expect(impatient.status == 75)
    #expect(impatient.output.hasPrefix("a skipped 0/0 note=\"locked by scanmill run "))
    #expect(impatient.errors.contains("locked by scanmill run "))
    let other = try scene.start("--pipeline \(pipeline)")
    try scene.wait("the second run to wait") {
      try other.errorsSoFar().contains("waiting: locked by scanmill run ")
    }
    try OutputFile.write([], to: go)
    let second = try other.finish().succeeds()
    try first.finish().succeeds()
    #expect(second.output == "a up-to-date 1/1\n")
    // What the first one built, the second did not build again.
    #expect(!second.errors.contains("never-built"))
  }

  @Test("The same bytes with 1 and 4 jobs, inline and in workers, in any order")
  func determinism() throws {
    let scene = try Scene("a", "b", "c")
    let reversed = ["c", "b", "a"].map { scene.input.appending($0).string }
    try scene.run("-j 1", to: "one").succeeds()
    try scene.run("-j 4", to: "four").succeeds()
    try scene.run("-j 4 --inline", to: "inline").succeeds()
    try scene.run("-j 1 --inline", to: "inline-one").succeeds()
    try Program.run(
      "run \(reversed) --output \(scene.folder.path.appending("shuffled")) -j 3"
    ).succeeds()
    let one = try scene.digests("one")
    #expect(one.count == 18)
    for other in ["four", "inline", "inline-one", "shuffled"] {
      #expect(try scene.digests(other) == one, "\(other)")
    }
  }

  @Test("The journal tells all that happened, each job has a log")
  func journal() throws {
    let scene = try Scene("a")
    try scene.run("--json").succeeds()
    let runs = scene.output.appending("runs")
    let name = try #require(try FileSystem.names(in: runs).first)
    let text = try runs.appending(name).appending("events.jsonl").text()
    let events = try text.lines.map {
      try Data($0.utf8).json()
    }
    #expect(events.allSatisfy { $0["schema"] as? Int == 1 && $0["time"] is String })
    let kinds = events.compactMap { $0["kind"] as? String }
    #expect(kinds.first == "run-started" && kinds.last == "run-finished")
    #expect(
      Set(kinds).isSuperset(of: [
        "capture-started", "planned", "started", "finished", "capture-finished",
      ]))
    let logs = runs.appending(name).appending("logs/a")
    #expect(
      try FileSystem.names(in: logs) == [
        "aligned.log", "color.log", "depth-frames.log", "depth.log", "imu.log", "preview.log",
        "tables.log",
      ])
    let log = try logs.appending("color.log").text()
    #expect(log.contains(" started uses=decode-color reason=never-built\n"))
    #expect(log.contains(" finished uses=decode-color outcome=made reason=never-built seconds="))
  }
}
