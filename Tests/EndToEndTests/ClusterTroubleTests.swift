import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing

@Suite(
  "A batch system that is late, silent, wrong or forgetful", .runsPrograms,
  .enabled(if: PythonScript.isPresent, "no python3"))
struct ClusterTroubleTests {
  struct Trouble: CustomTestStringConvertible, Sendable {
    var name: String
    var behavior: String
    var testDescription: String { name }
  }

  static let troubles = [
    Trouble(name: "none", behavior: "{}"),
    Trouble(name: "records that lag", behavior: #"{"sacctLag": 1000}"#),
    Trouble(name: "no accounting", behavior: #"{"accounting": false}"#),
    Trouble(
      name: "no accounting, and a queue that forgets at once",
      behavior: #"{"accounting": false, "forget": 0}"#),
    Trouble(name: "records that are garbage", behavior: #"{"garbage": {"sacct": "@# |;\n"}}"#),
    Trouble(
      name: "nothing but garbage",
      behavior: #"{"accounting": false, "garbage": {"squeue": "@# |;\n"}}"#),
    Trouble(
      name: "records that fail", behavior: #"{"fails": {"sacct": {"text": "no", "code": 1}}}"#),
    Trouble(name: "questions that take long", behavior: #"{"slow": {"sacct": 4, "squeue": 4}}"#),
    Trouble(name: "an id with a cluster", behavior: #"{"cluster": "lab"}"#),
    Trouble(
      name: "no room at first",
      behavior:
        #"{"refuse": {"first": 2, "text": "sbatch: error: AssocMaxSubmitJobLimit\nsbatch: error: Batch job submission failed: Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)"}}"#
    ),
    Trouble(name: "room for one element at a time", behavior: #"{"maxSubmit": 1}"#),
    Trouble(name: "arrays of one element", behavior: #"{"maxArraySize": 1}"#),
    Trouble(name: "an array that is taken without an answer", behavior: #"{"dies": 1}"#),
    Trouble(name: "an answer that takes long", behavior: #"{"slow": {"sbatch": 3}}"#),
  ]

  private static let local = Result { try ClusterScene(["a", "b"], [:]).localRun() }

  @Test(
    "Gives the bytes, the words and the code of a local run",
    arguments: Rounds.every(2, of: troubles))
  func likeLocal(_ trouble: Trouble) throws {
    let slurm = try FakeSlurm(trouble.behavior)
    let cluster = try ClusterScene(["a", "b"], slurm.environment)
    try cluster.expectLikeLocal(cluster.run(), as: Self.local.get())
    try slurm.behave("{}")
    try slurm.expectEmptyQueue()
    #expect(try slurm.calls("sbatch").count > 0)
  }

  @Test(
    "At most one question per interval, one array for captures that ask alike, and none when all is done"
  )
  func gentle() throws {
    let slurm = try FakeSlurm()
    let cluster = try ClusterScene(["a", "b", "c", "d"], slurm.environment, isOld: true)
    try cluster.run().succeeds()
    let again = try cluster.run().succeeds()
    #expect(again.errors.contains("nothing to do"), "\(again.errors)")
    #expect(try slurm.calls("sbatch").map { $0.value("--array") } == ["0-3"])
    let questions = try slurm.calls().filter { ["sacct", "squeue"].contains($0.command) }
    for (one, next) in zip(questions, questions.dropFirst()) {
      // Noted at their arrival here: the next one leaves an interval after the answer to the first.
      #expect(next.time - one.time > 0.99, "\(questions.map(\.time))")
    }
  }

  @Test("Saying what would be submitted submits nothing")
  func previews() throws {
    let slurm = try FakeSlurm()
    let cluster = try ClusterScene(["a", "b"], slurm.environment)
    let jobs = try cluster.run("--print-jobs").succeeds()
    #expect(jobs.output.contains("--array=0-1"), "\(jobs.output)")
    #expect(jobs.output.contains("element"))
    try cluster.run("-n").succeeds()
    try cluster.run("-n --json").succeeds()
    #expect(try slurm.calls("sbatch").isEmpty)
    #expect(try cluster.scene.digests() == [:])
  }

  @Test("A controller that is away is 75, and nothing is lost by it")
  func away() throws {
    let slurm = try FakeSlurm(#"{"down": {"seconds": 0.1}}"#)
    let cluster = try ClusterScene(["a", "b"], slurm.environment)
    let result = try cluster.run()
    #expect(result.status == 75, "\(result.errors)")
    #expect(try slurm.calls("sbatch").isEmpty)
    try slurm.behave("{}")
    try cluster.expectLikeLocal(cluster.run())
  }

  @Test("A controller that goes away later is 75; the elements go on and are found by the next run")
  func awayLater() throws {
    let stages = """
        color: {uses: decode-color}
        slow:
          uses: command
          with: {command: [sh, -c, "while [ ! -e SCENE/go ]; do sleep 0.05; done; echo x > {output}/x"]}
      """
    let slurm = try FakeSlurm()
    let cluster = try ClusterScene(
      ["a", "b"], slurm.environment, stages: stages, profile: ["patience": "3s"], isOld: true)
    let first = try cluster.start()
    cluster.wait { cluster.resultFiles().count == 2 }
    try slurm.behave(
      #"{"down": {"seconds": 0.1}, "fails": {"sacct": {"text": "sacct: error: away"}}}"#)
    let result = try first.finish()
    #expect(result.status == 75, "\(result.errors)")
    try slurm.behave("{}")
    #expect(try slurm.queue().count == 2)
    let asked = try slurm.calls("squeue").count
    let second = try cluster.start()
    // It has asked for the elements at work.
    try cluster.wait { try slurm.calls("squeue").count > asked }
    cluster.touch("go")
    try cluster.expectLikeLocal(second.finish(), isFirst: false)
    #expect(try slurm.calls("sbatch").count == 1)
  }

  @Test(
    "What the site refuses is 78 with its own words",
    arguments: Rounds.every(
      2,
      of: [
        (["partition": "none"], "invalid partition specified: none"),
        (["account": "x"], "Invalid account or account/partition combination specified"),
        (["memory": "7GB"], "Memory specification can not be satisfied"),
        (["extra": "[\"--constraint=avx2\"]"], "Invalid feature specification"),
      ]))
  func refused(profile: [String: String], words: String) throws {
    let slurm = try FakeSlurm(#"{"accounts": ["lab"], "nodeMemory": 4000}"#)
    let cluster = try ClusterScene(["a"], slurm.environment, profile: profile)
    let result = try cluster.run()
    #expect(result.status == 78, "\(result.errors)")
    #expect(result.errors.contains(words), "\(result.errors)")
    try slurm.expectEmptyQueue()
  }

  @Test(
    "Elements that break alike stop the run after the first ones, with the remedy",
    arguments: Rounds.some(
      of: [
        ("FAILED", "127:0", "program"), ("FAILED", "0:53", "log"), ("FAILED", "1:0", "code 1"),
      ], 1))
  func broken(end: String, exit: String, word: String) throws {
    let slurm = try FakeSlurm(
      #"{"nodes": {"node1": 1}, "elements": [{"end": "\#(end)", "exit": "\#(exit)", "when": "start"}]}"#
    )
    let cluster = try ClusterScene(["a", "b", "c"], slurm.environment)
    let result = try cluster.run()
    #expect(result.status == 78, "\(result.errors)")
    #expect(result.errors.contains(word), "\(result.errors)")
    #expect(result.errors.contains("node1"), "\(result.errors)")
    try slurm.expectEmptyQueue()
    #expect(try slurm.calls("sbatch").count <= 2)
  }

  @Test("Elements of another build refuse to begin: 78, and both builds are named")
  func otherBuild() throws {
    let slurm = try FakeSlurm()
    let cluster = try ClusterScene(["a", "b", "c"], slurm.environment)
    // The copy has other bytes: what a node with an older copy would run.
    let copy = cluster.path("scanmill")
    // By another process, as ShellScript does it.
    let copying = try Running(
      "/bin/sh", ["-c", #"cp "$0" "$1" && printf x >> "$1""#, Program.path.string, copy])
    try copying.finish().succeeds()
    let wrapper = cluster.path("wrapper")
    let script =
      "#!/bin/sh\nexec '\(copy)' element \"$1\" $(($2 - ${SLURM_ARRAY_TASK_ID:-0}))\n"
    try ShellScript.write(script, to: FilePath(wrapper))
    try slurm.behave(#"{"element": "\#(wrapper)"}"#)
    let result = try cluster.run()
    #expect(result.status == 78, "\(result.errors)")
    #expect(result.errors.contains("another build"), "\(result.errors)")
    #expect(try cluster.scene.digests() == [:])
    try slurm.expectEmptyQueue()
  }
}
