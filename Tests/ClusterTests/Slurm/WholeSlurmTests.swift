@testable import Core
import SystemPackage
import TestSupport
import Testing

@testable import Cluster
import Glibc

/// Asks the small program that behaves like Slurm and Slurm itself the same questions.
@Suite("A Slurm that runs what it is given", .runsPrograms)
struct WholeSlurmTests {
  @Test("The fake one", .enabled(if: PythonScript.isPresent, "no python3"))
  func fake() throws {
    let slurm = try FakeSlurm(#"{"killWait": 600}"#)
    try Scenario(slurm.environment).check()
    withExtendedLifetime(slurm) {}
  }

  @Test("The fake one without records", .enabled(if: PythonScript.isPresent, "no python3"))
  func fakeQueue() throws {
    let slurm = try FakeSlurm(#"{"killWait": 600, "accounting": false}"#)
    try Scenario(slurm.environment).check()
    withExtendedLifetime(slurm) {}
  }

  @Test("A real one", .enabled(if: RealSlurm.isPossible, "needs root and slurmctld"))
  func real() throws {
    let slurm = try RealSlurm()
    try Scenario(slurm.environment).check()
    withExtendedLifetime(slurm) {}
  }

  @Test(
    "A real one with records",
    .enabled(if: RealSlurm.isFullPossible, "needs root, slurmdbd, MariaDB and munge"))
  func full() throws {
    let slurm = try RealSlurm(full: true)
    try Scenario(slurm.environment).check()
    withExtendedLifetime(slurm) {}
  }
}

/// Arrays and a job that follows them, from submission to their ends.
private struct Scenario {
  let folder: TemporaryFolder
  let run: FilePath
  let system: SlurmSystem

  init(_ environment: [String: String]) throws {
    folder = try TemporaryFolder()
    run = folder.path.appending("it's 50%A").appending("20261122T013000-4711-9f8e7d6c-3a5b1f")
    var path = run
    path.removeLastComponent()
    try FileSystem.makeFolder(path)
    for path in [run, run.appending("slurm"), run.appending("slurm/logs")] {
      try FileSystem.makeFolder(path)
    }
    var profile = ClusterProfile()
    profile.setup = ["export GREETING='hello world'"]
    system = SlurmSystem(
      profile: profile, runFolder: run, environment: environment, timeoutSeconds: 3600)
  }

  /// - Parameter script: for a shell to which `$1` is the run's folder and `$2` the first element.
  func submission(_ number: Int, _ script: String, count: Int) -> Submission {
    Submission(
      number: number, name: "scanmill-R-\(number)", comment: "scanmill R", firstElement: 40,
      count: count, throttle: count > 0 ? 1 : nil,
      request: JobRequest(cores: 1, memoryBytes: 100_000_000, timeSeconds: 3600),
      runFolder: run, output: folder.path, program: "/bin/sh", arguments: ["-c", script])
  }

  func submit(_ submission: Submission) throws -> String {
    let answer = system.submit(submission)
    guard case .accepted(let job) = answer else { throw Unexpected(what: "\(answer)") }
    return job
  }

  struct Unexpected: Error {
    var what: String
  }

  /// Asks until `isRight` of what is known of an element.
  func wait(_ job: String, _ index: Int?, _ isRight: (TaskView?) -> Bool) throws {
    try Waiting.until("\(job) \(index ?? -1)") {
      guard case .known(let table) = system.tasks(of: [job]) else { return false }
      let view = table[TaskID(job: job, index: index)]
      if isRight(view) { return true }
      switch view?.state {
      case nil, .pending, .running: return false
      default: throw Unexpected(what: "\(job) \(index ?? -1): \(String(describing: view))")
      }
    }
  }

  private func wait(for file: String) {
    Waiting.until(file) { FileSystem.exists(run.appending(file)) }
  }

  func check() throws {
    guard case .site(let site) = system.site() else { throw Unexpected(what: "no site") }
    #expect(site.maxArraySize == 1001)
    let job = try orderly()
    try kill()
    try following(job)
    try refusals()
  }

  /// An array that waits, runs, and is cancelled in order.
  private func orderly() throws -> String {
    let job = try submit(
      submission(
        1,
        """
        trap 'echo "$GREETING" > "$1/term"; exit 0' TERM
        echo "$2 $SLURM_ARRAY_TASK_ID" > "$1/begun-$SLURM_ARRAY_TASK_ID"
        while :; do sleep 0.1; done
        """, count: 4))
    try wait(job, 0) { $0?.state == .running && $0?.node != nil }
    wait(for: "begun-0")
    guard case .known(let waiting) = system.waitingReasons(of: [job]) else {
      throw Unexpected(what: "no reasons")
    }
    let third = waiting[TaskID(job: job, index: 3)]
    #expect(third?.state == .pending && third?.reason == "JobArrayTaskLimit")
    #expect(waiting[TaskID(job: job, index: 4)] == nil)
    #expect(system.jobs(named: "scanmill-R-1") == .known([job]))
    #expect(system.jobs(named: "scanmill-R-0") == .known([]))

    system.throttle(job, to: 2)
    try wait(job, 1) { $0?.state == .running }
    wait(for: "begun-1")
    system.cancel([job], .orderly)
    for index in 0..<4 { try wait(job, index) { $0?.state == .cancelled } }
    #expect(try text(of: "term") == "hello world\n")
    #expect(try text(of: "begun-1") == "40 1\n")
    return job
  }

  /// An array that does not listen.
  private func kill() throws {
    let job = try submit(
      submission(2, "trap '' TERM; : > \"$1/deaf\"; while :; do sleep 0.1; done", count: 3))
    wait(for: "deaf")
    try wait(job, 0) { $0?.state == .running }
    system.cancel([job], .kill)
    try wait(job, 0) { $0.map { $0.state == .cancelled || $0.state == .failed } ?? false }
    for index in 1..<3 { try wait(job, index) { $0?.state == .cancelled } }
  }

  /// A single job after others, however they ended.
  private func following(_ job: String) throws {
    var last = submission(3, "echo \"$0 ${SLURM_ARRAY_TASK_ID-none}\" > \"$1/last\"", count: 0)
    last.arguments += ["conclude", run.text]
    last.after = [job]
    let single = try submit(last)
    try wait(single, nil) { $0?.state == .completed }
    #expect(try text(of: "last") == "conclude none\n")
  }

  private func refusals() throws {
    var large = submission(4, "exit 0", count: 1)
    large.count = 1002
    guard case .refused(let words) = system.submit(large) else {
      throw Unexpected(what: "not refused")
    }
    #expect(words == "Batch job submission failed: Invalid job array specification")
    guard case .known(let nothing) = system.tasks(of: ["999999"]) else {
      throw Unexpected(what: "no table")
    }
    #expect(nothing.tasks.isEmpty && nothing.folded.isEmpty)
  }

  private func text(of name: String) throws -> String {
    try MappedFile(run.appending(name)).withBytes { bytes in
      bytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    }
  }
}
