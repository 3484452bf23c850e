import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing

@Suite("A detached run", .runsPrograms, .enabled(if: PythonScript.isPresent, "no python3"))
struct ClusterDetachTests {
  /// A stage that lasts until somebody says go.
  static let slowStages = """
      color: {uses: decode-color}
      slow:
        uses: command
        with: {command: [sh, -c, "while [ ! -e SCENE/go ]; do sleep 0.05; done; echo x > {output}/x"]}
    """

  private func concluded(_ cluster: ClusterScene, _ run: String) -> Bool {
    cluster.exists("out/runs/\(run)/slurm/closed")
  }

  /// Starts one; its id.
  private func detach(_ cluster: ClusterScene, _ more: [String] = []) throws -> String {
    let result = try Program.run(
      cluster.arguments(["--detach"] + more, to: "out"), environment: cluster.environment
    ).succeeds()
    let run = result.output.trimmingCharacters(in: .newlines)
    #expect(cluster.exists("out/runs/\(run)"), "\(result.output)")
    return run
  }

  private func record(_ cluster: ClusterScene, _ run: String) throws -> [String: Any] {
    let data = try FilePath(cluster.path("out/runs/\(run)/run.json")).data()
    return try data.json()
  }

  @Test("Comes back with its id; a job behind it concludes, as a local run would, and tells")
  func concludes() throws {
    let slurm = try FakeSlurm()
    let cluster = try ClusterScene(
      ["a", "b"], slurm.environment, stages: Self.slowStages, isOld: true)
    let told = cluster.path("told.json")
    let run = try detach(cluster, ["--notify", "cat > '\(told)'"])
    #expect(try !slurm.queue().isEmpty)

    cluster.wait { cluster.resultFiles().count == 2 }
    let status = try Program.run(
      "status \(cluster.path("out")) --json", environment: cluster.environment
    ).json()
    let runs = try status.objects("runs")
    #expect(runs.count == 1)
    #expect(runs.first?["run"] as? String == run)
    #expect(runs.first?["elements"] as? Int == 2)
    #expect(runs.first?["ended"] as? Int == 0)
    let words = try Program.run("status \(cluster.path("out"))", environment: cluster.environment)
    #expect(
      words.output.contains("run \(run) on the cluster: 0/2 elements ended"), "\(words.output)")

    cluster.touch("go")
    cluster.wait { concluded(cluster, run) }
    cluster.wait { cluster.exists("told.json") }
    let record = try record(cluster, run)
    #expect(record["exit"] as? Int == 0)
    #expect(cluster.exists("out/index.html"))
    try cluster.local().succeeds()
    #expect(try cluster.scene.digests("out") == cluster.scene.digests("local"))
    try slurm.expectEmptyQueue()
    let calls = try slurm.calls("sbatch").count
    let again = try cluster.run()
    #expect(again.errors.contains("nothing to do"), "\(again.errors)")
    #expect(try slurm.calls("sbatch").count == calls)
    let quiet = try Program.run(
      "status \(cluster.path("out")) --json", environment: cluster.environment
    ).json()
    #expect((quiet["runs"] as? [Any] ?? []).isEmpty)
  }

  @Test("What can be tried again is, by the job behind it, which another one follows")
  func rounds() throws {
    let slurm = try FakeSlurm(
      #"{"elements": [{"match": {"memoryBelow": 3000, "index": 0}, "end": "OUT_OF_MEMORY", "when": "start"}]}"#
    )
    let cluster = try ClusterScene(["a", "b"], slurm.environment)
    let run = try detach(cluster)
    cluster.wait { concluded(cluster, run) }
    let record = try record(cluster, run)
    #expect(record["exit"] as? Int == 0)
    _ = try cluster.local()
    #expect(try cluster.scene.digests("out") == cluster.scene.digests("local"))
    let memory = try slurm.calls("sbatch").compactMap { $0.value("--mem") }
    #expect(Set(memory).count > 1, "\(memory)")
    try slurm.expectEmptyQueue()
  }

  @Test("A round that never ran: the next run on that output concludes it and has nothing to do")
  func abandoned() throws {
    let slurm = try FakeSlurm()
    let cluster = try ClusterScene(
      ["a", "b"], slurm.environment, stages: Self.slowStages, isOld: true)
    let run = try detach(cluster)
    cluster.wait { cluster.resultFiles().count == 2 }
    let follower = try #require(
      slurm.queue().map { $0.split(separator: "|")[0] }.first { !$0.contains("_") })
    try slurm.call("scancel", String(follower))
    cluster.touch("go")
    try slurm.expectEmptyQueue()
    #expect(!concluded(cluster, run))
    let status = try Program.run("status \(cluster.path("out"))", environment: cluster.environment)
    #expect(status.output.contains("was not concluded"), "\(status.output)")
    let calls = try slurm.calls("sbatch").count
    let next = try cluster.run().succeeds()
    #expect(next.errors.contains("concluding run \(run)"), "\(next.errors)")
    #expect(concluded(cluster, run))
    #expect(try record(cluster, run)["exit"] as? Int == 0)
    #expect(try slurm.calls("sbatch").count == calls)
  }

  @Test("Plan and orders name paths as people write them")
  func readable() throws {
    let slurm = try FakeSlurm()
    let cluster = try ClusterScene(["a"], slurm.environment)
    try cluster.run().succeeds()
    let runs = try FileSystem.names(in: cluster.scene.output.appending("runs"))
    let folder = cluster.path("out/runs/\(try #require(runs.first))/slurm")
    for file in ["plan.json", "orders/000/000000.json"] {
      let data = try FilePath("\(folder)/\(file)").data()
      let object = try data.json()
      let options = try object.object("options")
      #expect(options["output"] as? String == cluster.path("out"))
      #expect(object["workingFolder"] is String)
    }
  }
}
