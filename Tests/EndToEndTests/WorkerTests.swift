import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing

@Suite("Workers that do not come to their end", .runsPrograms)
struct WorkerTests {
  private static let sleeping = """
      color: {uses: decode-color}
      slow:
        uses: command
        needs: [color]
        with: {command: [sh, -c, "sleep 300; ls > {output}/x"]}
      tables: {uses: export-tables, optional: [color]}
    """

  @Test(
    "A worker that crashes costs its capture; what it had published and the others stay",
    arguments: Rounds.some(
      of: [
        (SIGILL, "SIGILL", 70), (SIGKILL, "SIGKILL", 1), (SIGBUS, "SIGBUS", 1),
        (SIGSEGV, "SIGSEGV", 70), (SIGTRAP, "SIGTRAP", 70), (SIGABRT, "SIGABRT", 70),
      ], 2))
  func crash(signal: Int32, name: String, code: Int32) throws {
    let scene = try Scene("a", "b")
    // Only `a` sleeps.
    let pipeline = try scene.pipeline(
      Self.sleeping.replacing("sleep 300", with: "test {id} = b || sleep 300"))
    let running = try scene.start("--pipeline \(pipeline) -j 2")
    try scene.wait("the slow stage") { scene.hasStarted("slow") }
    try scene.wait("the other capture") {
      try scene.digests().keys.contains("b/slow") && scene.digests().keys.contains("a/tables")
    }
    // The other worker may still be closing.
    try scene.wait("one worker") {
      Processes.children(of: running.process.processIdentifier).count == 1
    }
    for worker in Processes.children(of: running.process.processIdentifier) { kill(worker, signal) }
    let result = try running.finish()
    #expect(result.status == code)
    #expect(result.output.hasPrefix("a failed 2/3") && result.output.hasSuffix("\nb made 3/3\n"))
    let reason = signal == SIGKILL ? " (most likely for want of memory)" : ""
    #expect(result.errors.contains("was ended by \(name)\(reason) while it ran slow"))
    #expect(
      try Set(scene.digests().keys) == ["a/color", "a/tables", "b/color", "b/slow", "b/tables"])
    #expect(scene.leftovers() == ["a/.failed"])
    // A mistake of ours is told as one in every view, and a failure of others in none.
    let output = scene.output.string
    try Program.run(["report", output]).succeeds()
    let views = try [
      Program.run(["status", output]).output, Program.run(["status", output, "--json"]).output,
      Program.run(["report", output, "--format", "json"]).output,
      scene.output.appending("index.html").text(), scene.output.appending("a/report.html").text(),
    ]
    for view in views {
      #expect(view.contains("This is a mistake of scanmill: report it") == (code == 70), "\(view)")
    }
  }

  @Test("A file that is cut short while it is mapped fails its capture as input-changed")
  func truncated() throws {
    // Of the app's size, so that it is still read when it is cut.
    let scene = try Scene("a", "b", frames: 200, depth: [])
    let running = try scene.start(
      "--set color.compression=compact --set aligned.compression=compact -j 2")
    try scene.wait("the depth of a") { scene.hasStarted("depth-frames") }
    truncate(scene.file("a.depth").string, 100)
    truncate(scene.file("a.h264").string, 1000)
    let result = try running.finish()
    #expect(result.status == 1)
    #expect(result.output.hasPrefix("a failed "))
    #expect(result.output.hasSuffix("\nb made 6/6\n"))
    #expect(result.errors.contains("input-changed"))
  }

  @Test("A program that ignores its time-out and SIGTERM is killed; the stage has failed")
  func timeOut() throws {
    let scene = try Scene("a")
    let pipeline = try scene.pipeline(
      """
        deaf:
          uses: command
          timeout: 300ms
          with: {command: [sh, -c, "trap '' TERM; sleep 300; sleep 300"]}
      """)
    let result = try scene.run("--pipeline \(pipeline)")
    #expect(result.status == 1)
    #expect(result.errors.contains("took longer than its timeout of 300ms"))
  }

  @Test("A worker that hangs beyond a time-out is killed; what it had published stays")
  func hang() throws {
    let scene = try Scene("a")
    let pipeline = try scene.pipeline(
      """
        color: {uses: decode-color}
        slow:
          uses: command
          needs: [color]
          timeout: 500ms
          with: {command: [sleep, "300"]}
      """)
    let running = try scene.start("--pipeline \(pipeline)")
    try scene.wait("the slow stage") { scene.hasStarted("slow") }
    let workers = Processes.children(of: running.process.processIdentifier)
    #expect(workers.count == 1)
    for worker in workers { kill(worker, SIGSTOP) }
    let result = try running.finish()
    #expect(result.status == 1)
    #expect(result.output.hasPrefix("a failed 1/2"))
    #expect(result.errors.contains("'slow' took longer than its timeout and did not stop"))
  }

  @Test("Captures are at work side by side only while there is memory for both")
  func admission() throws {
    let scene = try Scene("a", "b", "c")
    // One worker is promised 268 MB.
    try scene.run("-j 3 --memory 500MB").succeeds()
    let runs = scene.output.appending("runs")
    let run = try #require(try FileSystem.names(in: runs).first)
    let events = try runs.appending(run).appending("events.jsonl").text()
    let bounds = events.lines.compactMap { line in
      line.contains("capture-started") ? "start" : line.contains("capture-finished") ? "end" : nil
    }
    #expect(bounds == ["start", "end", "start", "end", "start", "end"])
  }

  @Test("A worker that uses more memory than it may fails its capture and says how to go on")
  func memory() throws {
    let scene = try Scene("a", frames: 120)
    let result = try scene.run("--memory 8MB --set color.compression=compact")
    #expect(result.status == 1)
    #expect(result.errors.contains("its limit is 7 MB; raise --memory"))
  }

  @Test("An external program gets no more memory than its stage declares")
  func programMemory() throws {
    let scene = try Scene("a")
    let pipeline = try scene.pipeline(
      """
        greedy:
          uses: command
          resources: {memory: 64MB}
          with: {command: [tail, -n, "1", /dev/zero]}
      """)
    let result = try scene.run("--pipeline \(pipeline)")
    #expect(result.status == 1)
    #expect(result.errors.contains("greedy: failed: tail exited with code 1"))
  }

  @Test("A failure that may pass is tried again, and a retry that succeeds is success")
  func retry() throws {
    let scene = try Scene("a")
    let marker = scene.folder.path.appending("marker")
    func pipeline(_ code: Int) throws -> String {
      try scene.pipeline(
        """
          flaky:
            uses: command
            retries: 1
            with:
              command:
                - sh
                - -c
                - 'test -e \(marker) && echo ok > {output}/x && exit 0; touch \(marker); exit \(code)'
        """)
    }
    // 75 asks to be run again later; any other code is a failure that stays.
    #expect(try scene.run("--pipeline \(pipeline(3))").status == 1)
    try FileSystem.remove(marker)
    let result = try scene.run("--pipeline \(pipeline(75))").succeeds()
    #expect(result.output == "a made 1/1\n")
    #expect(result.errors.contains("flaky: trying again after: sh exited with code 75"))
  }
}
