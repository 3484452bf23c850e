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
}
