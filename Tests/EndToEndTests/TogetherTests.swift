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
}
