import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing

@Suite(
  "How elements end", .runsPrograms, .enabled(if: PythonScript.isPresent, "no python3"))
struct ClusterEndTests {
  /// A program that works for ever the first time that it has `a`, and is quick ever after.
  static let onceStages = """
      color: {uses: decode-color}
      imu: {uses: match-imu}
      slow:
        uses: command
        needs: [color, imu]
        with: {command: [sh, -c, "case {output} in */a/*) mkdir SCENE/once 2>/dev/null && sleep 1000;; esac; echo x > {output}/x"]}
    """

  /// An element that ends as a rule says, once, while it works on `a`.
  private func scene(
    _ rule: String, stages: String = ClusterEndTests.onceStages, _ names: [String] = ["a"],
    profile: [String: String] = [:]
  ) throws -> (FakeSlurm, ClusterScene) {
    let slurm = try FakeSlurm(#"{"killWait": 5, "elements": [\#(rule)]}"#)
    return (slurm, try ClusterScene(names, slurm.environment, stages: stages, profile: profile))
  }

  @Test("A lack of memory that the program outlived: again with twice as much, alone")
  func memory() throws {
    let (slurm, cluster) = try scene(
      #"{"match": {"memoryBelow": 3000}, "end": "OUT_OF_MEMORY", "when": {"path": "../once"}, "program": "largest"}"#,
      ["a", "b"], profile: ["group": "2"])
    let result = try cluster.run("--json").succeeds()
    let asked = try slurm.calls("sbatch").compactMap { $0.value("--mem") }
    #expect(asked.count == 2, "\(result.errors)")
    let numbers = asked.compactMap { Int($0.dropLast()) }
    #expect(numbers.count == 2 && numbers[1] > numbers[0] * 19 / 10, "\(asked)")
    let attempts = try cluster.captures(result).mapValues { $0["attempts"] as? Int }
    #expect(Set(attempts.values) == [1, 2], "\(attempts)")
    try cluster.local().succeeds()
    #expect(try cluster.scene.digests() == cluster.scene.digests("local"))
    // What was published before is not done again.
    #expect(try cluster.begun().filter { $0.value > 1 }.keys.allSatisfy { $0.hasSuffix("/slow") })
  }

  @Test("A lack of memory that never ends: failed with the limit, in words")
  func noMemory() throws {
    let (slurm, cluster) = try scene(
      #"{"end": "OUT_OF_MEMORY", "when": {"path": "a/imu"}}"#,
      stages: Self.endless, profile: ["maxMemory": "4GB"])
    let result = try cluster.run()
    #expect(result.status == 1, "\(result.errors)")
    #expect(result.errors.contains("needed more than"), "\(result.errors)")
    #expect(try slurm.calls("sbatch").count == 2)
  }

  static let endless = """
      imu: {uses: match-imu}
      slow:
        uses: command
        needs: [imu]
        with: {command: [sh, -c, "sleep 1000; echo x > {output}/x"]}
    """

  @Test("Out of time with something published: again with twice the time")
  func time() throws {
    let (slurm, cluster) = try scene(
      #"{"match": {"timeBelow": 1000}, "limit": 8, "signalBefore": 6}"#)
    try cluster.expectLikeLocal(cluster.run(), isOnce: false)
    #expect(try slurm.calls("sbatch").compactMap { $0.value("--time") } == ["0:10:00", "0:20:00"])
    #expect(try cluster.begun().filter { $0.value > 1 } == ["a/slow": 2])
  }

  @Test("Out of time with nothing published: failed, and what to raise")
  func noTime() throws {
    let stages = """
        slow:
          uses: command
          with: {command: [sh, -c, "sleep 1000; echo x > {output}/x"]}
      """
    let (slurm, cluster) = try scene(#"{"limit": 6, "signalBefore": 4}"#, stages: stages)
    let result = try cluster.run()
    #expect(result.status == 1, "\(result.errors)")
    #expect(result.errors.contains("slurm.time"), "\(result.errors)")
    #expect(try slurm.calls("sbatch").count == 1)
  }

  @Test(
    "Ends that are nobody's fault: again, and right in the end",
    arguments: Rounds.some(
      of: [
        #""end": "PREEMPTED", "when": {"path": "../once"}"#,
        #""end": "BOOT_FAIL", "when": "start""#,
        #""end": "FAILED", "exit": "0:9", "when": {"path": "../once"}"#,
      ], 2))
  func again(rule: String) throws {
    let (slurm, cluster) = try scene(
      #"{"times": 1, "match": {"order": "\"name\":\"a\""}, \#(rule)}"#, ["a", "b"])
    if rule.contains("start") { cluster.touch("once") }
    try cluster.expectLikeLocal(cluster.run(), isOnce: false)
    #expect(try slurm.calls("sbatch").count == 2)
    try slurm.expectEmptyQueue()
  }

  @Test(
    "Lost three times: failed with the node's name; after two losses there, another node is asked for"
  )
  func lost() throws {
    let (slurm, cluster) = try scene(
      #"{"match": {"order": "\"name\":\"a\""}, "end": "NODE_FAIL", "when": "start"}"#)
    try slurm.behave(
      #"{"nodes": {"node1": 1, "node2": 1}, "elements": [{"end": "NODE_FAIL", "when": "start"}]}"#)
    let result = try cluster.run()
    #expect(result.status == 1, "\(result.errors)")
    #expect(result.errors.contains("lost 3 times"), "\(result.errors)")
    #expect(result.errors.contains("node"), "\(result.errors)")
    let calls = try slurm.calls("sbatch")
    #expect(calls.count == 3)
    #expect(calls.last?.value("--exclude") == "node1")
  }

  @Test("A lost node whose program lives on: its capture is waited for, nothing is done twice")
  func ghost() throws {
    let stages = """
        color: {uses: decode-color}
        imu: {uses: match-imu}
        slow:
          uses: command
          needs: [color, imu]
          with: {command: [sh, -c, "while [ ! -e SCENE/go ]; do sleep 0.05; done; echo x > {output}/x"]}
      """
    let (slurm, cluster) = try scene(
      #"{"times": 1, "match": {"order": "\"name\":\"a\""}, "end": "NODE_FAIL", "when": {"path": "a/imu"}, "program": "leave"}"#,
      stages: stages, ["a", "b"])
    let running = try cluster.start()
    cluster.wait { cluster.resultFiles().count == 3 }
    cluster.touch("go")
    try cluster.expectLikeLocal(running.finish(), isFirst: false)
    #expect(try slurm.calls("sbatch").count == 2)
  }

  @Test("Cancelled by somebody else: not again, and who it was")
  func cancelled() throws {
    let (slurm, cluster) = try scene(
      #"{"match": {"order": "\"name\":\"a\""}, "end": "CANCELLED by 1000", "when": {"path": "a/imu"}}"#,
      stages: """
          imu: {uses: match-imu}
          slow:
            uses: command
            needs: [imu]
            with: {command: [sh, -c, "if [ ! -e SCENE/quick ]; then sleep 1000; fi; echo x > {output}/x"]}
        """)
    let result = try cluster.run()
    #expect(result.status == 1, "\(result.errors)")
    #expect(result.errors.contains("cancelled by uid 1000"), "\(result.errors)")
    #expect(try slurm.calls("sbatch").count == 1)
    // And the next run does it.
    cluster.touch("quick")
    try slurm.behave("{}")
    try cluster.expectLikeLocal(cluster.run(), isOnce: false)
  }

  @Test(
    "A whole array that somebody cancels while it waits: the run ends",
    arguments: [#""accounting": true"#, #""accounting": false"#])
  func cancelledWaiting(accounting: String) throws {
    let slurm = try FakeSlurm(#"{\#(accounting), "elements": [{"pending": "Priority"}]}"#)
    let cluster = try ClusterScene(["a", "b"], slurm.environment)
    let running = try cluster.start()
    try cluster.wait { try slurm.queue().count == 2 }
    try slurm.call("scancel", "1")
    let result = try running.finish()
    #expect(result.status == 1, "\(result.errors)")
    #expect(try slurm.calls("sbatch").count == 1)
  }

  @Test(
    "What will never start is not waited for",
    arguments: [("BadConstraints", Int32(78)), ("JobHeldAdmin", 1)])
  func stuck(reason: String, status: Int32) throws {
    let slurm = try FakeSlurm(#"{"elements": [{"pending": "\#(reason)"}]}"#)
    let cluster = try ClusterScene(["a", "b"], slurm.environment)
    let result = try cluster.run()
    #expect(result.status == status, "\(result.errors)")
    #expect(result.errors.contains(reason), "\(result.errors)")
    try slurm.expectEmptyQueue()
  }

  @Test("A damaged capture fails as it does locally, and costs the others nothing")
  func damaged() throws {
    let slurm = try FakeSlurm()
    let cluster = try ClusterScene(["a", "b", "c"], slurm.environment)
    try cluster.damage("b")
    let result = try cluster.run()
    #expect(result.status == 1, "\(result.errors)")
    try cluster.expectLikeLocal(result)
  }
}

extension ClusterScene {
  /// Makes the video of a capture one that no decoder takes.
  func damage(_ capture: String) throws {
    let folder = scene.input.appending(capture)
    let name = try #require(try FileSystem.names(in: folder).first { $0.hasSuffix(".h264") })
    try folder.appending(name).write(Data(count: 3000))
  }
}
