import Foundation
import SystemPackage
import TestSupport
import Testing

@testable import Core

@Suite("The batch systems that the tests run against", .runsPrograms)
struct ClusterHelpersTests {
  private static let scripts = Fixtures.projectRoot.appending("Tests/Slurm")

  @Test(
    "The fake commands say what real ones say", .enabled(if: PythonScript.isPresent, "no python3"))
  func fake() throws {
    let result = try PythonScript.run(
      ["-m", "unittest", "-q", "test_slurm"], in: Self.scripts.appending("fake")
    ).succeeds()
    #expect(result.errors.contains("Ran "))
  }

  @Test(
    "A fake takes what it started along", .enabled(if: PythonScript.isPresent, "no python3"))
  func end() throws {
    let marker = "SCANMILL_TEST_MARKER=\(UUID().uuidString)"
    try withFake { slurm in
      let environment = slurm.environment.merging([
        "SCANMILL_TEST_MARKER": String(marker.dropFirst(21))
      ]) { $1 }
      let script =
        "printf '#!/bin/sh\\nexec sleep 1000' | sbatch --parsable --array=0-1 --output=/dev/null"
      let submitted = try PythonScript.run("/bin/sh", ["-c", script], environment, nil)
      #expect(submitted.output == "1\n", "\(submitted.errors)")
      try Waiting.until("two that run") {
        try slurm.queue().count { $0.contains("RUNNING") } == 2
      }
      Waiting.until("two processes") { Processes.marked(marker).count >= 2 }
    }
    Processes.expectNone(marker)
  }

  private func withFake(_ body: (FakeSlurm) throws -> Void) throws {
    try body(FakeSlurm())
  }
}

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

/// One folder seen by two machines: two FUSE mounts with caches, device numbers and locks of their own.
@Suite("A shared disk that is seen late and does not share locks", .runsPrograms, .serialized)
struct ClusterViewTests {
  static let absence: String = {
    var missing: [String] = []
    if getuid() != 0 { missing.append("root") }
    for path in ["/dev/fuse", "/usr/bin/bindfs", "/usr/bin/unshare"]
    where !FileManager.default.fileExists(atPath: path) {
      missing.append(path)
    }
    if !PythonScript.isPresent { missing.append("python3") }
    if !missing.isEmpty {
      print("skipped: \(missing.joined(separator: ", ")) not there: no two views of one folder")
    }
    return missing.joined(separator: ", ")
  }()

  /// A folder and two views of it, which go with the value.
  final class Views {
    let folder: TemporaryFolder
    var first: String { folder.path.appending("first").string }
    var second: String { folder.path.appending("second").string }

    init() throws {
      folder = try TemporaryFolder()
      try FileSystem.makeFolder(folder.path.appending("disk"))
      for view in [first, second] {
        try FileSystem.makeFolder(FilePath(view))
        let options = "attr_timeout=3,entry_timeout=3,negative_timeout=3"
        // It stays in the background, and must not keep a descriptor by which we wait for its end.
        let start = "import subprocess, sys; sys.exit(subprocess.run(sys.argv[1:]).returncode)"
        let disk = folder.path.appending("disk").string
        let made = try PythonScript.run(["-c", start, "/usr/bin/bindfs", "-o", options, disk, view])
        try #require(made.status == 0, "\(made.errors)")
      }
    }

    deinit {
      for view in [first, second] {
        _ = try? PythonScript.run("/usr/bin/umount", ["-l", view], nil, nil)
      }
    }
  }

  @Test(
    "The supervisor on one machine, the elements on another: as a local run",
    .enabled(if: absence.isEmpty, "needs root, FUSE and bindfs"))
  func views() throws {
    let views = try Views()
    let slurm = try FakeSlurm()
    let cluster = try ClusterScene(["a", "b"], slurm.environment, isOld: true)
    // What the node does first: its own view in the place of the supervisor's.
    let wrapper = cluster.path("wrapper")
    let script = """
      #!/bin/sh
      exec unshare -m sh -c 'mount --bind "$0" "$1" && exec "$2" element "$3" "$4"' \
      '\(views.second)' '\(views.first)' '\(Program.path)' "$1" $(($2 - SLURM_ARRAY_TASK_ID))

      """
    try ShellScript.write(script, to: FilePath(wrapper))
    try slurm.behave(#"{"element": "\#(wrapper)"}"#)
    let output = "\(views.first)/out"
    let words = [
      "run", cluster.scene.input.string, "--output", output, "--pipeline", cluster.pipeline,
      "--profile", cluster.profile,
    ]
    let result = try Program.run(words, environment: slurm.environment).succeeds()
    #expect(result.errors.contains("locks-not-shared"), "\(result.errors)")
    let local = try cluster.local()
    #expect(result.output == local.output)
    let disk = views.folder.path.appending("disk/out")
    try disk.copy(to: FilePath(cluster.path("out")))
    #expect(try cluster.scene.digests() == cluster.scene.digests("local"))
    #expect(try cluster.begun().filter { $0.value > 1 } == [:])
    // From the other machine nothing is to be done either.
    let other = words.map { $0.replacingOccurrences(of: views.first, with: views.second) }
    let again = try Program.run(other, environment: slurm.environment)
    #expect(again.errors.contains("nothing to do"), "\(again.errors)")
    #expect(try slurm.calls("sbatch").count == 1)
  }
}

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
