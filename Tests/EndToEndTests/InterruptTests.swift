import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing

@Suite("Interrupted and killed runs", .runsPrograms)
struct InterruptTests {
  @Test(
    "A signal ends the run with its code; nothing half done, no process and no lock is left",
    arguments: [(SIGINT, Int32(130)), (SIGTERM, Int32(143))])
  func signals(signal: Int32, code: Int32) throws {
    let scene = try Scene("a", "b")
    let marker = "SCANMILL_TEST_MARKER=\(UUID().uuidString)"
    let pipeline = try scene.pipeline(
      """
        color: {uses: decode-color}
        slow:
          uses: command
          needs: [color]
          with: {command: [sh, -c, "sleep 300; ls > {output}/x"], environment: ["\(marker)"]}
      """)
    let running = try scene.start("--pipeline \(pipeline) -j 2 --grace 3s")
    try scene.wait("the slow stages") {
      scene.hasStarted("slow") && scene.hasStarted("slow", of: "b")
    }
    try scene.wait("the programs") { Processes.marked(marker).count >= 2 }
    kill(running.process.processIdentifier, signal)
    let result = try running.finish()
    #expect(result.status == code)
    #expect(result.output == "a interrupted 1/2\nb interrupted 1/2\n")
    #expect(result.errors.contains("slow: interrupted: stopped: interrupted"))
    Processes.expectNone(marker)
    #expect(scene.leftovers() == [])
    #expect(try Set(scene.digests().keys) == ["a/color", "b/color"])
  }

  @Test("A second signal does not wait for the grace")
  func second() throws {
    let scene = try Scene("a")
    let pipeline = try scene.pipeline(
      """
        deaf:
          uses: command
          with: {command: [sh, -c, "trap '' TERM; sleep 300; sleep 300"]}
      """)
    let running = try scene.start("--pipeline \(pipeline) --grace 10m")
    try scene.wait("the program") { scene.hasStarted("deaf") }
    kill(running.process.processIdentifier, SIGINT)
    // Two signals that nobody has taken yet are one.
    try scene.wait("the first signal to be heard") {
      try running.errorsSoFar().contains("interrupt again")
    }
    kill(running.process.processIdentifier, SIGINT)
    #expect(try running.finish().status == 130)
  }

  @Test("What is nearly done when the signal comes may end within the grace")
  func nearlyDone() throws {
    let scene = try Scene("a", frames: 120)
    let running = try scene.start("--set color.compression=compact --grace 10m")
    let staged = scene.output.appending("a/.staging")
    try scene.wait("half of the pictures") {
      ((try? FileSystem.names(in: staged)) ?? []).contains { name in
        name.hasPrefix("color.")
          && ((try? FileSystem.names(in: staged.appending(name))) ?? []).count > 20
      }
    }
    kill(running.process.processIdentifier, SIGINT)
    #expect(try running.finish().status == 130)
    #expect(try scene.digests().keys.contains("a/color"))
  }

  @Test("Killed again and again at random moments, the outputs are those of an undisturbed run")
  func killLoop() throws {
    let scene = try Scene("a", "b", "c")
    try scene.run(to: "whole").succeeds()
    let whole = try scene.digests("whole")
    var random = SeededGenerator(seed: 11)
    var kills = 0
    for round in 0..<Rounds.of(5, soak: 200) {
      // Again and again from nothing, so that every stage is met.
      if round % 5 == 0 { try FileSystem.remove(scene.output) }
      // A moment is told by what has been written, not by the clock: the same on every machine.
      let more = Int.random(in: 0...60, using: &random)
      let before = scene.fileCount()
      let running = try scene.start("-j 2")
      if try running.kill(when: { scene.fileCount() >= before + more }) { kills += 1 }
      // Whatever is in place is complete and right.
      for (stage, digest) in try scene.digests() where !stage.hasSuffix("/depth-frames") {
        // Tables name the pictures that exist; those of a first part of a night may name fewer.
        if !stage.hasSuffix("/tables") { #expect(digest == whole[stage], "\(stage)") }
      }
    }
    #expect(kills > 0)
    try scene.run().succeeds()
    #expect(try scene.digests() == whole)
    #expect(scene.leftovers() == [])
    #expect(try scene.run().errors.contains("nothing to do"))
  }

  @Test("Workers die with the process that started them, and so do their programs")
  func orphans() throws {
    let scene = try Scene("a")
    let marker = "SCANMILL_TEST_MARKER=\(UUID().uuidString)"
    let pipeline = try scene.pipeline(
      """
        slow:
          uses: command
          with: {command: [sleep, "300"], environment: ["\(marker)"]}
      """)
    let running = try scene.start("--pipeline \(pipeline)")
    try scene.wait("the program") { !Processes.marked(marker).isEmpty }
    let workers = Processes.children(of: running.process.processIdentifier)
    #expect(workers.count == 1)
    kill(running.process.processIdentifier, SIGKILL)
    _ = try running.finish()
    try scene.wait("their end") {
      Processes.marked(marker).isEmpty && workers.allSatisfy { kill($0, 0) != 0 }
    }
  }
}
