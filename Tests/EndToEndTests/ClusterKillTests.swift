import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing

@Suite(
  "A supervisor that is interrupted or killed", .runsPrograms, .serialized,
  .enabled(if: PythonScript.isPresent, "no python3"))
struct ClusterKillTests {
  static let slowStages = """
      imu: {uses: match-imu}
      slow:
        uses: command
        needs: [imu]
        with: {command: [sh, -c, "while [ ! -e SCENE/go ]; do sleep 0.05; done; echo x > {output}/x"]}
    """

  @Test(
    "A signal ends the run with its code, and nothing is left in the queue or at work",
    arguments: [(SIGINT, Int32(130)), (SIGTERM, Int32(143))])
  func signals(signal: Int32, code: Int32) throws {
    let slurm = try FakeSlurm(#"{"killWait": 600, "nodes": {"node1": 1}}"#)
    let cluster = try ClusterScene(["a", "b"], slurm.environment, stages: Self.slowStages)
    let running = try cluster.start("--grace 60s")
    cluster.wait { cluster.exists("out/a/imu") || cluster.exists("out/b/imu") }
    kill(running.process.processIdentifier, signal)
    let result = try running.finish()
    #expect(result.status == code, "\(result.errors)")
    #expect(result.output.contains("a interrupted"), "\(result.output)")
    #expect(result.output.contains("b interrupted"), "\(result.output)")
    try slurm.expectEmptyQueue()
    Processes.expectNone("FAKE_SLURM_ELEMENT_OF=\(slurm.state)")
    #expect(cluster.scene.leftovers() == [])
    // And the next run does the rest.
    cluster.touch("go")
    try cluster.expectLikeLocal(cluster.run(), isOnce: false)
  }

  @Test("A signal while an array is being handed over cancels that one, too")
  func duringSubmission() throws {
    let slurm = try FakeSlurm(#"{"slow": {"sbatch": 2}, "elements": [{"pending": "Priority"}]}"#)
    let cluster = try ClusterScene(["a", "b"], slurm.environment)
    let running = try cluster.start()
    try cluster.wait { try slurm.calls("sbatch").count == 1 }
    kill(running.process.processIdentifier, SIGINT)
    #expect(try running.finish().status == 130)
    try slurm.expectEmptyQueue()
  }

  @Test("A lost terminal leaves the elements at work; the next run takes them over")
  func hangup() throws {
    let slurm = try FakeSlurm()
    let cluster = try ClusterScene(
      ["a", "b"], slurm.environment, stages: Self.slowStages, isOld: true)
    let running = try cluster.start()
    cluster.wait { cluster.exists("out/a/imu") && cluster.exists("out/b/imu") }
    kill(running.process.processIdentifier, SIGHUP)
    _ = try running.finish()
    #expect(try slurm.queue().count == 2)
    let next = try cluster.start()
    cluster.wait { cluster.runCount == 2 }
    cluster.touch("go")
    try cluster.expectLikeLocal(next.finish(), isFirst: false)
    #expect(try slurm.calls("sbatch").count == 1)
  }

  @Test("Two supervisors at once: the second waits for the first, or says that it would")
  func two() throws {
    let slurm = try FakeSlurm()
    let cluster = try ClusterScene(
      ["a", "b"], slurm.environment, stages: Self.slowStages, isOld: true)
    let first = try cluster.start()
    cluster.wait { cluster.exists("out/a/imu") && cluster.exists("out/b/imu") }
    let hasty = try cluster.run("--no-wait")
    #expect(hasty.status == 75, "\(hasty.errors)")
    let second = try cluster.start()
    cluster.wait { cluster.hasSaid("2 held by another run") }
    cluster.touch("go")
    try first.finish().succeeds()
    try second.finish().succeeds()
    #expect(try slurm.calls("sbatch").count == 1)
    #expect(try cluster.begun().filter { $0.value > 1 } == [:])
  }

  @Test(
    "A supervisor that is killed again and again: bytes as of a local run, and no stage ran twice")
  func killLoop() throws {
    let stages = """
        color: {uses: decode-color}
        imu: {uses: match-imu}
        note:
          uses: command
          needs: [color]
          with: {command: [sh, -c, "sleep 0.3; echo note > {output}/note"]}
        last:
          uses: command
          needs: [note]
          with: {command: [sh, -c, "sleep 0.3; echo last > {output}/last"]}
      """
    let slurm = try FakeSlurm(#"{"nodes": {"node1": 1}}"#)
    let cluster = try ClusterScene(["a", "b", "c", "d"], slurm.environment, stages: stages)
    let local = try cluster.localRun()
    var random = SeededGenerator(seed: 12)
    var kills = 0
    for round in 0..<Rounds.of(1, soak: 5) {
      // Again and again from nothing, so that every step is met.
      let output = "out\(round)"
      for _ in 0..<Rounds.of(5, soak: 10) {
        // A moment is told by what has happened in the output and in the queue, not by the clock.
        func steps() throws -> Int { try cluster.scene.fileCount(output) + slurm.calls().count }
        let (before, more) = (try steps(), Int.random(in: 0...30, using: &random))
        let running = try cluster.start(to: output)
        if try running.kill(when: { try steps() >= before + more }) { kills += 1 }
      }
      let result = try cluster.run(to: output)
      try cluster.expectLikeLocal(
        result, as: local, in: output, isFirst: false, "round \(round)")
      #expect(try cluster.run(to: output).errors.contains("nothing to do"))
      try slurm.expectEmptyQueue()
    }
    #expect(kills > 0)
  }
}
