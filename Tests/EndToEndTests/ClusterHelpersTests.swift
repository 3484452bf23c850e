import Foundation
import SystemPackage
import TestSupport
import Testing

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

  @Test(
    "A real Slurm starts, runs an array, and leaves no process",
    .enabled(if: RealSlurm.isPossible, "needs root and slurmctld"))
  func real() throws {
    try checkReal(full: false)
  }

  @Test(
    "A real Slurm with accounting starts, runs an array, and leaves no process",
    .enabled(if: RealSlurm.isFullPossible, "needs root, slurmdbd, MariaDB and munge"))
  func full() throws {
    try checkReal(full: true)
  }

  private func checkReal(full: Bool) throws {
    var marker = ""
    try withReal(full: full) { slurm in
      marker = "SLURM_CONF=\(slurm.root)/etc/slurm.conf"
      let script =
        "printf '#!/bin/sh\\necho $SLURM_ARRAY_TASK_ID' | sbatch --parsable --array=0-1 --output=\(slurm.root)/%a.log"
      let submitted = try PythonScript.run("/bin/sh", ["-c", script], slurm.environment, nil)
      #expect(submitted.output == "1\n", "\(submitted.errors)")
      try Waiting.until("the end of the array") {
        try slurm.call("squeue", "-h").output.isEmpty
      }
      let log = slurm.root.appending("1.log").contents
      #expect(log == Data("1\n".utf8))
      let records = try slurm.call("sacct", "-X", "-n", "-P", "-j", "1", "--format=JobID")
      #expect(
        full ? records.status == 0 : records.errors.contains("accounting storage is disabled"))
    }
    Processes.expectNone(marker)
  }

  private func withReal(full: Bool, _ body: (RealSlurm) throws -> Void) throws {
    try body(RealSlurm(full: full))
  }
}
