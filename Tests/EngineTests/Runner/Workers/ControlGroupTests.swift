@testable import Core
import SystemPackage
import TestSupport
import Testing

@testable import Engine

@Suite("What the control groups leave a process")
struct ControlGroupTests {
  /// A root with `/proc/self/cgroup` and files below `/sys/fs/cgroup`.
  private static func group(
    _ groups: String, _ files: [String: String]
  ) throws -> (ControlGroup, TemporaryFolder) {
    let folder = try TemporaryFolder()
    try Text.write(groups, to: folder.path.appending("proc/self/cgroup"))
    for (name, text) in files {
      try Text.write(
        text + "\n", to: folder.path.appending(FilePath("sys/fs/cgroup/" + name).components))
    }
    return (ControlGroup(root: folder.path), folder)
  }

  @Test(
    "The tightest limit on the way up counts, in both versions and in name spaces",
    arguments: [
      // Version 2: its own, its parent's, that of the mount.
      ("0::/user/job\n", ["user/job/memory.max": "1000", "user/memory.max": "max"], 1000),
      ("0::/user/job\n", ["user/job/memory.max": "max", "user/memory.max": "500"], 500),
      ("0::/user/job\n", ["user/job/memory.max": "900", "user/memory.high": "700"], 700),
      ("0::/\n", ["memory.max": "300"], 300),
      // The path of the host in a container that sees only its own.
      ("0::/docker/abc\n", ["memory.max": "400"], 400),
      ("0::/../..\n", ["memory.max": "450"], 450),
      // Version 1.
      ("5:memory:/a/b\n0::/\n", ["memory/a/memory.limit_in_bytes": "600"], 600),
      // A job of Slurm: the limit is that of the job, two levels above the step's.
      (
        "9:memory:/slurm/uid_0/job_12/step_batch/task_0\n",
        [
          "memory/slurm/uid_0/job_12/memory.limit_in_bytes": "260000000",
          "memory/slurm/uid_0/job_12/step_batch/task_0/memory.limit_in_bytes":
            "9223372036854771712", "memory/memory.limit_in_bytes": "9223372036854771712",
        ], 260_000_000
      ),
      ("5:cpu,memory:/a\n", ["memory/a/memory.limit_in_bytes": "9223372036854771712"], nil),
      ("0::/a\n", ["a/memory.max": "max"], nil), ("", [:], nil), ("nonsense\n", [:], nil),
    ] as [(String, [String: String], Int64?)])
  func memory(groups: String, files: [String: String], bytes: Int64?) throws {
    let (group, folder) = try Self.group(groups, files)
    defer { withExtendedLifetime(folder) {} }
    #expect(group.memoryBytes == bytes)
  }

  @Test("Processors are rounded up, never below one; processes are what is left")
  func others() throws {
    let (group, folder) = try Self.group(
      "0::/a\n",
      [
        "a/cpu.max": "150000 100000", "cpu.max": "max 100000", "a/pids.max": "20",
        "a/pids.current": "15",
      ])
    defer { withExtendedLifetime(folder) {} }
    #expect(group.cores == 2 && group.freeProcesses == 5)
    let (old, other) = try Self.group(
      "3:cpu,cpuacct:/x\n",
      ["cpu/x/cpu.cfs_quota_us": "10000", "cpu/x/cpu.cfs_period_us": "100000"])
    defer { withExtendedLifetime(other) {} }
    #expect(old.cores == 1 && old.freeProcesses == nil)
  }
}
