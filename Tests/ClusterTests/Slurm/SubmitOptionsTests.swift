import SystemPackage
import Testing

@testable import Cluster

@Suite("Options of a submission")
struct SubmitOptionsTests {
  static func submission(count: Int) -> Submission {
    Submission(
      number: 3, name: "scanmill-RUN-3", comment: "scanmill RUN", firstElement: 0, count: count,
      throttle: count > 0 ? 64 : nil,
      request: JobRequest(cores: 4, memoryBytes: 4_000_000_000, timeSeconds: 2400),
      runFolder: "/o/runs/RUN", output: "/o", program: "/lab/bin/scanmill", arguments: [])
  }

  @Test("An array has those of the specification")
  func array() {
    #expect(
      SubmitOptions.words(Self.submission(count: 1000), ClusterProfile()) == [
        "--parsable", "--job-name=scanmill-RUN-3", "--comment=scanmill RUN", "--array=0-999%64",
        "--nodes=1", "--ntasks=1", "--cpus-per-task=4", "--mem=4000M", "--time=0:40:00",
        "--no-requeue", "--open-mode=append", "--signal=B:USR2@120", "--chdir=/o",
        "--output=/o/runs/RUN/slurm/logs/%A_%a.log", "--export=ALL",
      ])
  }

  @Test("A single job follows others however they end")
  func single() {
    var submission = Self.submission(count: 0)
    submission.after = ["101", "102"]
    submission.request = JobRequest(cores: 1, memoryBytes: 500_000_000, timeSeconds: 1800)
    #expect(
      SubmitOptions.words(submission, ClusterProfile()) == [
        "--parsable", "--job-name=scanmill-RUN-3", "--comment=scanmill RUN",
        "--dependency=afterany:101:102", "--kill-on-invalid-dep=no", "--nodes=1", "--ntasks=1",
        "--cpus-per-task=1", "--mem=500M", "--time=0:30:00", "--no-requeue", "--open-mode=append",
        "--chdir=/o", "--output=/o/runs/RUN/slurm/logs/%j.log", "--export=ALL",
      ])
  }

  @Test("What the site and the user say comes last, extra options behind everything")
  func profile() {
    var profile = ClusterProfile()
    profile.partition = "cpu"
    profile.account = "lab3d"
    profile.qos = "normal"
    profile.extra = ["--constraint=avx2", "--nice"]
    var submission = Self.submission(count: 1)
    submission.excludedNodes = ["node3", "node7"]
    submission.throttle = nil
    let words = SubmitOptions.words(submission, profile)
    #expect(words.contains("--array=0-0"))
    #expect(
      words.suffix(6) == [
        "--exclude=node3,node7", "--partition=cpu", "--account=lab3d", "--qos=normal",
        "--constraint=avx2", "--nice",
      ])
  }

  @Test("Nodes that the profile avoids are avoided together with those that a run does")
  func excluded() {
    var profile = ClusterProfile()
    profile.extra = ["--exclude=node[1-2]", "--nice"]
    var submission = Self.submission(count: 1)
    #expect(
      SubmitOptions.words(submission, profile).suffix(2) == ["--exclude=node[1-2]", "--nice"])
    submission.excludedNodes = ["node7"]
    #expect(
      SubmitOptions.words(submission, profile).suffix(2) == [
        "--exclude=node7,node[1-2]", "--nice",
      ])
  }

  @Test("Percent signs of a path are no places of a pattern")
  func percent() {
    var submission = Self.submission(count: 2)
    submission.runFolder = "/o 50%A/runs/R"
    submission.output = "/o 50%A"
    let words = SubmitOptions.words(submission, ClusterProfile())
    #expect(words.contains("--output=/o 50%%A/runs/R/slurm/logs/%A_%a.log"))
    #expect(words.contains("--chdir=/o 50%A"))
  }

  @Test(
    "Memory is rounded up and never 0, which would be all of a node",
    arguments: [
      (Int64(4_000_000_000), "4000M"), (4_000_000_001, "4001M"), (1, "1M"), (0, "1M"), (-5, "1M"),
    ])
  func memory(bytes: Int64, text: String) {
    var submission = Self.submission(count: 1)
    submission.request.memoryBytes = bytes
    #expect(SubmitOptions.words(submission, ClusterProfile()).contains("--mem=\(text)"))
  }

  @Test(
    "Times are hours, minutes and seconds",
    arguments: [
      (2400, "0:40:00"), (43200, "12:00:00"), (360_061, "100:01:01"), (59, "0:00:59"),
      (0, "0:00:01"),
    ])
  func time(seconds: Int, text: String) { #expect(SubmitOptions.time(seconds) == text) }
}
