import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing

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
