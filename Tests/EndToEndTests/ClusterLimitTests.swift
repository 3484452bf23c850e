import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing

@Suite(
  "A cluster that is used gently", .runsPrograms, .enabled(if: PythonScript.isPresent, "no python3")
)
struct ClusterLimitTests {
  @Test("Never more elements in the queue than 'maxQueued', which a site may enforce")
  func maxQueued() throws {
    let slurm = try FakeSlurm(#"{"maxSubmit": 2}"#)
    // No element may hold two captures.
    let cluster = try ClusterScene(
      ["a", "b", "c", "d", "e"], slurm.environment, profile: ["maxQueued": "2", "maxTime": "10m"])
    try cluster.expectLikeLocal(cluster.run())
    let calls = try slurm.calls("sbatch")
    // Not one was refused.
    #expect(calls.allSatisfy { $0.code == 0 }, "\(calls.map(\.output))")
    #expect(calls.count >= 3)
  }

  @Test("What one array does not need any more of 'maxRunning', another gets")
  func shares() throws {
    let slurm = try FakeSlurm(
      #"{"nodes": {"node1": 8}, "refuse": {"first": 1, "text": "sbatch: error: QOSMaxSubmitJobPerUserLimit", "code": 1}}"#
    )
    let stages = """
        slow:
          uses: command
          with: {command: [sh, -c, "while [ ! -e SCENE/go-{id} ]; do sleep 0.05; done; echo x > {output}/x"]}
      """
    let cluster = try ClusterScene(
      ["a", "b", "c", "d"], slurm.environment, stages: stages, profile: ["maxRunning": "3"])
    let running = try cluster.start()
    // Two arrays of two, of which three elements may run.
    cluster.wait { cluster.resultFiles().count == 3 }
    let arrays = try slurm.calls("sbatch").filter { $0.code == 0 }.compactMap {
      $0.value("--array")
    }
    try #require(arrays.count == 2 && arrays.contains { $0.hasSuffix("%1") }, "\(arrays)")
    // One array ends; the other one may run whole.
    cluster.touch(arrays[0].hasSuffix("%1") ? "go-c" : "go-a")
    cluster.touch(arrays[0].hasSuffix("%1") ? "go-d" : "go-b")
    cluster.wait { cluster.resultFiles().count == 4 }
    let updates = try slurm.calls("scontrol").filter { $0.arguments.first == "update" }
    #expect(updates.contains { $0.arguments.contains("ArrayTaskThrottle=2") }, "\(updates)")
    for name in ["a", "b", "c", "d"] { cluster.touch("go-\(name)") }
    try running.finish().succeeds()
  }

  @Test("Elements that break alike stop the run also when some captures had been done before")
  func brokenLater() throws {
    let slurm = try FakeSlurm()
    let cluster = try ClusterScene(["a", "b", "c", "d", "e", "f", "g"], slurm.environment)
    try Program.run(
      """
      run \(cluster.scene.input.appending("a")) --output \(cluster.path("out")) --pipeline \
      \(cluster.pipeline) --profile \(cluster.profile)
      """, environment: cluster.environment
    ).succeeds()
    try slurm.behave(
      #"{"nodes": {"node1": 1}, "elements": [{"end": "FAILED", "exit": "127:0", "when": "start"}]}"#
    )
    let second = try cluster.run()
    #expect(second.status == 78, "\(second.errors)")
    #expect(second.errors.contains("program"), "\(second.errors)")
    try slurm.expectEmptyQueue()
    #expect(cluster.resultFiles().count == 1)
    // The six of the second run, and one array at most of those that were to be tried again.
    #expect(try slurm.calls("sbatch").count <= 3)
  }

  @Test(
    "Just changed before it was processed: the next run reads it again instead of submitting it")
  func justChanged() throws {
    let slurm = try FakeSlurm()
    let cluster = try ClusterScene(["a", "b"], slurm.environment)
    // The time of the last change is now, whatever the elements then find.
    for name in ["a", "b"] {
      let file = cluster.scene.input.appending(name).appending("\(name).txt")
      let bytes = try file.data()
      try file.write(bytes)
    }
    try cluster.run().succeeds()
    let calls = try slurm.calls("sbatch").count
    let again = try cluster.run()
    #expect(again.errors.contains("nothing to do"), "\(again.errors)")
    #expect(try slurm.calls("sbatch").count == calls)
    // What did change is submitted.
    let imu = cluster.scene.file("a.imu")
    let bytes = try imu.data()
    try imu.write(bytes.prefix(bytes.count - 1))
    _ = try cluster.run()
    #expect(try slurm.calls("sbatch").count == calls + 1)
  }

  @Test("Intermediates on the node's own disk: the same bytes, and nothing is left there")
  func scratch() throws {
    let slurm = try FakeSlurm()
    let stages = """
        color: {uses: decode-color}
        between: {uses: decompress-depth, keep: false}
        aligned: {uses: align-depth, needs: [between]}
      """
    let temporary = try TemporaryFolder()
    var environment = slurm.environment
    environment["TMPDIR"] = temporary.path.string
    environment["SLURM_TMPDIR"] = nil
    let cluster = try ClusterScene(
      ["a", "b"], environment, stages: stages, profile: ["scratch": "intermediates"])
    try cluster.expectLikeLocal(cluster.run())
    let left = try FileSystem.names(in: temporary.path).filter { $0.hasPrefix("scanmill-") }
    #expect(left == [], "\(left)")
  }
}
