@testable import Core
import SystemPackage
import TestSupport
import Testing

@testable import Cluster

@Suite("Slurm behind the protocol")
struct SlurmSystemTests {
  let fakes: FakeCommands

  init() throws {
    fakes = try FakeCommands()
    try fakes.set("scontrol", Self.scontrol(accounting: "slurmdbd"))
    try fakes.set("squeue", "echo '34_[2-9%2]|PENDING|Priority|'; echo '34_1|RUNNING|None|n1'")
    try fakes.set("sacct", "echo '34_1|FAILED|127:0|00:00:01|n1'")
    try fakes.set("sbatch", "cat > \"$here/script\"; echo 34")
    try fakes.set("scancel", "")
  }

  static func scontrol(accounting: String) -> String {
    """
    if [ "$1" = ping ]; then echo 'Slurmctld(primary) at localhost is UP'; exit 0; fi
    if [ "$1" = update ]; then echo '34_0: Job has already finished'; exit 1; fi
    echo 'MaxArraySize            = 1001'
    echo 'KillWait                = 5 sec'
    echo 'AccountingStorageType   = accounting_storage/\(accounting)'
    """
  }

  func system(_ profile: ClusterProfile = ClusterProfile()) -> SlurmSystem {
    SlurmSystem(
      profile: profile, runFolder: "/o/runs/20261122T013000-4711-9f8e7d6c-3a5b1f",
      environment: fakes.environment(), timeoutSeconds: 3600, slowSeconds: 3600)
  }

  private static let down = "echo 'Slurmctld(primary) at localhost is DOWN'; exit 1"
  private static let away = "echo 'x: error: Unable to contact slurm controller' >&2; exit 1"

  // MARK: Questions

  @Test("A site says what it allows; one without arrays or commands is of no use")
  func site() throws {
    #expect(
      system().site() == .site(Site(maxArraySize: 1001, killWaitSeconds: 5, hasAccounting: true)))
    for (script, answer) in [
      (
        "echo MaxArraySize = 0",
        SiteAnswer.unusable("this Slurm has no job arrays (MaxArraySize=0)")
      ),
      ("echo hello", .unusable("'scontrol show config' did not print a configuration of Slurm")),
      (Self.away, .silent("x: error: Unable to contact slurm controller")),
      (
        "echo 'scontrol: fatal: Could not establish a configuration source' >&2; exit 1",
        .unusable(
          "Could not establish a configuration source: the commands of Slurm have no configuration on this machine; "
            + "run this on a node of the cluster that submits jobs, or name its slurm.conf in SLURM_CONF"
        )
      ),
    ] {
      try fakes.set("scontrol", script)
      #expect(system().site() == answer)
    }
    let none = SlurmSystem(
      profile: ClusterProfile(), runFolder: "/o/runs/R", environment: ["PATH": "/nowhere"])
    #expect(
      none.site()
        == .unusable("scontrol is not in PATH: run this where the commands of Slurm are"))
  }

  @Test("One question is one command: of the records where there are any, else of the queue")
  func tasks() throws {
    let system = system()
    // Before it is known whether there are records.
    guard case .known(let queue) = system.tasks(of: ["34", "35"]) else {
      Issue.record("no table")
      return
    }
    #expect(queue.isQueue && queue[TaskID(job: "34", index: 9)]?.reason == "Priority")
    _ = system.site()
    guard case .known(let records) = system.tasks(of: ["34", "35"]) else {
      Issue.record("no table")
      return
    }
    #expect(!records.isQueue && records[TaskID(job: "34", index: 1)]?.exitCode == 127)
    #expect(system.tasks(of: []) == .known(TaskTable(isQueue: true)))
    #expect(
      try fakes.calls == [
        "squeue -h -t all -j 34,35 -o %i|%T|%r|%N", "scontrol show config",
        "sacct -X -n -P -j 34,35 --format=JobID,State,ExitCode,Elapsed,NodeList",
      ])
    #expect(system.commandCounts == ["squeue": 1, "scontrol": 1, "sacct": 1])
  }

  @Test("Records that fail are left alone for a while; the queue is asked instead")
  func brokenRecords() throws {
    for script in ["echo 'sacct: error: Connection refused' >&2; exit 1", "echo hello"] {
      try fakes.set("sacct", script)
      let other = system()
      _ = other.site()
      guard case .silent = other.tasks(of: ["34"]) else {
        Issue.record("not silent")
        return
      }
      guard case .known(let table) = other.tasks(of: ["34"]) else {
        Issue.record("no table")
        return
      }
      #expect(table.isQueue)
      #expect(other.commandCounts == ["scontrol": 1, "sacct": 1, "squeue": 1])
    }
  }

  @Test("Without accounting the queue is asked, and why something waits always is")
  func queueOnly() throws {
    try fakes.set("scontrol", Self.scontrol(accounting: "none"))
    let system = system()
    _ = system.site()
    _ = system.tasks(of: ["34"])
    guard case .known(let table) = system.waitingReasons(of: ["34"]) else {
      Issue.record("no table")
      return
    }
    #expect(table.folded.first?.view.reason == "Priority")
    #expect(
      try fakes.calls.dropFirst() == [
        "squeue -h -t all -j 34 -o %i|%T|%r|%N", "squeue -h -t PENDING -j 34 -o %i|%T|%r|%N",
      ])
  }

  @Test("Jobs that the queue has forgotten are gone; that is an answer")
  func gone() throws {
    try fakes.set("squeue", "echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1")
    let system = system()
    #expect(system.tasks(of: ["34"]) == .known(TaskTable(isQueue: true)))
    // No reason to ask whether the controller is there.
    _ = system.tasks(of: ["34"])
    #expect(system.commandCounts == ["squeue": 2])
  }

  @Test("An answer that cannot be read at all is none")
  func garbage() throws {
    try fakes.set("squeue", "echo hello")
    #expect(system().tasks(of: ["34"]) == .silent("the answer of squeue cannot be understood"))
  }

  @Test("A job is found by its name: in the queue, else in the records since the run's day")
  func names() throws {
    let system = system()
    _ = system.site()
    #expect(system.jobs(named: "scanmill-R-3") == .known(["34"]))
    try fakes.set("squeue", "")
    try fakes.set("sacct", "echo '101_1|FAILED|127:0|00:00:01|n1'; echo '99|COMPLETED|0:0||'")
    #expect(system.jobs(named: "scanmill-R-3") == .known(["99", "101"]))
    try fakes.set("sacct", "exit 1")
    #expect(system.jobs(named: "scanmill-R-3") == .known([]))
    try fakes.set("squeue", Self.away)
    #expect(
      system.jobs(named: "scanmill-R-3") == .silent("x: error: Unable to contact slurm controller"))
    let calls = try fakes.calls
    #expect(calls.contains("squeue -h -t all --name=scanmill-R-3 -o %i|%T|%r|%N"))
    #expect(
      calls.contains(
        "sacct -X -n -P -S 2026-11-21T00:00:00 --name=scanmill-R-3 "
          + "--format=JobID,State,ExitCode,Elapsed,NodeList"))
  }

  @Test(
    "Records are searched from the day of the run on, in whichever zone Slurm lives",
    arguments: [
      ("20261122T013000-4711-9f8e7d6c-3a5b1f", "2026-11-21T00:00:00"),
      ("20261122T123000-4711-9f8e7d6c-3a5b1f", "2026-11-22T00:00:00"),
      ("20260301T000000-4711-0123abcd-00000a", "2026-02-28T00:00:00"), ("R", "now-7days"),
      ("", "now-7days"),
    ])
  func since(run: String, start: String) { #expect(SlurmSystem.recordsStart(ofRun: run) == start) }

  // MARK: Orders

  @Test("A submission is one sbatch with the script on its standard input")
  func submit() throws {
    var profile = ClusterProfile()
    profile.setup = ["module load x"]
    profile.partition = "cpu"
    let submission = SubmitOptionsTests.submission(count: 10)
    let system = system(profile)
    #expect(system.submit(submission) == .accepted(job: "34"))
    #expect(try fakes.text("script") == submission.script(setup: ["module load x"]))
    #expect(
      try fakes.calls == [
        "sbatch " + submission.options(profile).joined(separator: " ")
      ])
    #expect(system.commandCounts == ["sbatch": 1])
  }

  @Test("What would be submitted can be shown, and typed")
  func preview() throws {
    var profile = ClusterProfile()
    profile.setup = ["module load x"]
    let system = system(profile)
    let text = system.preview(SubmitOptionsTests.submission(count: 2))
    #expect(
      text == """
        sbatch --parsable --job-name=scanmill-RUN-3 '--comment=scanmill RUN' --array=0-1%64 --nodes=1 \
        --ntasks=1 --cpus-per-task=4 --mem=4000M --time=0:40:00 --no-requeue --open-mode=append \
        --signal=B:USR2@120 --chdir=/o --output=/o/runs/RUN/slurm/logs/%A_%a.log --export=ALL <<'END'
        #!/bin/sh
        set -e
        trap '' USR2
        module load x
        exec '/lab/bin/scanmill' element '/o/runs/RUN' 0
        END
        """)
    #expect(system.commandCounts == [:])
  }

  @Test("Arrays are cancelled a hundred at a time, in order or at once")
  func cancel() throws {
    let system = system()
    system.cancel((1...250).map { "\($0)" }, .orderly)
    system.cancel(["7"], .kill)
    system.cancel([], .kill)
    let calls = try fakes.calls.map { $0.split(separator: " ") }
    #expect(calls.map(\.count) == [101, 101, 51, 4])
    #expect(calls.map { $0[1] } == ["1", "101", "201", "--batch"])
    #expect(calls[3] == ["scancel", "--batch", "--signal=KILL", "7"])
    system.cancel(["8"], .waiting)
    #expect(try fakes.calls.last == "scancel --state=PENDING 8")
  }

  @Test("A throttle is changed; that Slurm complains about what has ended is no trouble")
  func throttle() throws {
    let system = system()
    system.throttle("34", to: 8)
    system.throttle("34", to: 0)
    #expect(
      try fakes.calls == [
        "scontrol update JobId=34 ArrayTaskThrottle=8",
        "scontrol update JobId=34 ArrayTaskThrottle=1",
      ])
  }

  // MARK: A controller that is away

  @Test("After a silence a quick question comes first, and nothing else while the answer is no")
  func down() throws {
    try fakes.set("squeue", Self.away)
    let system = system()
    guard case .silent = system.tasks(of: ["34"]) else {
      Issue.record("not silent")
      return
    }
    try fakes.set("scontrol", Self.down)
    #expect(
      system.tasks(of: ["34"]) == .silent("Slurmctld(primary) at localhost is DOWN"))
    #expect(
      system.submit(SubmitOptionsTests.submission(count: 1))
        == .silent("Slurmctld(primary) at localhost is DOWN"))
    system.cancel(["34"], .orderly)
    #expect(system.commandCounts == ["squeue": 1, "scontrol": 3])
    // Back again: asked once more, then no longer.
    try fakes.set("scontrol", Self.scontrol(accounting: "none"))
    try fakes.set("squeue", "")
    for _ in 0..<2 {
      #expect(system.tasks(of: ["34"]) == .known(TaskTable(isQueue: true)))
    }
    #expect(system.commandCounts == ["squeue": 3, "scontrol": 4])
  }

  @Test("Records go on while the controller is away")
  func recordsGoOn() throws {
    let system = system()
    _ = system.site()
    try fakes.set("sbatch", Self.away)
    try fakes.set("scontrol", Self.down)
    #expect(
      system.submit(SubmitOptionsTests.submission(count: 1))
        == .silent("x: error: Unable to contact slurm controller"))
    guard case .known = system.tasks(of: ["34"]) else {
      Issue.record("no table")
      return
    }
    #expect(system.commandCounts == ["scontrol": 1, "sbatch": 1, "sacct": 1])
  }

  @Test("A refusal is an answer: nobody asks whether the controller is there")
  func refusal() throws {
    try fakes.set("sbatch", "echo 'sbatch: error: Invalid partition name specified' >&2; exit 1")
    let system = system()
    for _ in 0..<2 {
      #expect(
        system.submit(SubmitOptionsTests.submission(count: 1))
          == .refused("Invalid partition name specified"))
    }
    #expect(system.commandCounts == ["sbatch": 2])
  }

  @Test("A command that hangs is ended, and what it had asked may have been done")
  func hang() throws {
    try fakes.set("sbatch", "exec sleep 1000")
    let system = SlurmSystem(
      profile: ClusterProfile(), runFolder: "/o/runs/R", environment: fakes.environment(),
      timeoutSeconds: 1)
    guard case .silent(let words) = system.submit(SubmitOptionsTests.submission(count: 1)) else {
      Issue.record("not silent")
      return
    }
    #expect(words == "sbatch did not end within 1 s")
  }

  @Test("A slow answer is an answer, but makes us ask first the next time")
  func slow() {
    let memory = SlurmMemory(slowSeconds: 5)
    memory.noteController(SlurmAnswer(program: "squeue", end: .exited(0), seconds: 4.9))
    #expect(!memory.isTroubled)
    memory.noteController(SlurmAnswer(program: "squeue", end: .exited(0), seconds: 5))
    #expect(memory.isTroubled)
    memory.noteController(SlurmAnswer(program: "squeue", end: .exited(1), seconds: 0.1))
    #expect(!memory.isTroubled)
    memory.noteController(SlurmAnswer(program: "squeue", end: .timedOut(seconds: 60)))
    #expect(memory.isTroubled)
  }

  @Test("Records are asked again when they have rested")
  func rest() {
    let memory = SlurmMemory(slowSeconds: 5)
    #expect(!memory.believesRecords(at: 0))
    memory.hasAccounting = true
    #expect(memory.believesRecords(at: 0))
    memory.recordsFailedSeconds = 100
    #expect(!memory.believesRecords(at: 399) && memory.believesRecords(at: 400))
  }
}
