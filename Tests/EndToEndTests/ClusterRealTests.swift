import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing

@Suite("A real Slurm of two nodes", .runsPrograms, .serialized)
struct ClusterRealTests {
  @Test(
    "A tree with a damaged capture ends as it does locally; a second run has nothing to do",
    .enabled(if: RealSlurm.isPossible, "needs root and slurmctld"))
  func small() throws {
    try check(RealSlurm())
  }

  @Test(
    "The same with accounting and control groups",
    .enabled(if: RealSlurm.isFullPossible, "needs root, slurmdbd, MariaDB and munge"))
  func full() throws {
    try check(RealSlurm(full: true))
  }

  private func check(_ slurm: RealSlurm) throws {
    let cluster = try ClusterScene(
      ["a", "b", "c", "d"], slurm.environment,
      profile: ["memory": "1GB", "maxMemory": "2GB", "time": "5m"])
    try cluster.damage("b")
    let result = try cluster.run()
    #expect(result.status == 1, "\(result.errors)")
    try cluster.expectLikeLocal(result)
    let again = try cluster.run("--json")
    let entries = try again.json().captures()
    #expect(
      Set(entries.filter { $0.key != "b" }.values.map { $0["outcome"] as? String }) == [
        "up-to-date"
      ])
    // Slurm cleans up after an element has said its last word.
    try Waiting.until("an empty queue") { try slurm.call("squeue", "-h").output.isEmpty }
  }

  @Test(
    "A node whose daemon is killed: the run ends right",
    .enabled(if: RealSlurm.isPossible, "needs root and slurmctld"))
  func node() throws {
    let slurm = try RealSlurm()
    let stages = """
        imu: {uses: match-imu}
        slow:
          uses: command
          needs: [imu]
          with: {command: [sh, -c, "while [ ! -e SCENE/go ]; do sleep 0.05; done; echo x > {output}/x"]}
      """
    let cluster = try ClusterScene(
      ["a", "b"], slurm.environment, stages: stages,
      profile: ["memory": "1GB", "maxMemory": "2GB", "time": "5m"])
    let running = try cluster.start()
    cluster.wait { cluster.exists("out/a/imu") && cluster.exists("out/b/imu") }
    let node = try #require(slurm.process("slurmd.node1"))
    kill(node, SIGKILL)
    try slurm.call("scontrol", "update", "nodename=node1", "state=down", "reason=test")
    cluster.wait { cluster.resultFiles().count > 2 }
    cluster.touch("go")
    try cluster.expectLikeLocal(running.finish(), isFirst: false)
  }
}
