import SystemPackage
import TestSupport
import Testing

@testable import Cluster
@testable import Core

@Suite("The script of a job")
struct BatchScriptTests {
  static func submission(
    program: FilePath, run: FilePath, count: Int = 4, arguments: [String] = []
  ) -> Submission {
    Submission(
      number: 3, name: "scanmill-R-3", comment: "scanmill R", firstElement: 40, count: count,
      throttle: nil, request: JobRequest(cores: 4, memoryBytes: 4_000_000_000, timeSeconds: 2400),
      runFolder: run, output: "/lab/out", program: program, arguments: arguments)
  }

  /// What `/bin/sh` makes of a script: code and output.
  static func run(_ script: String) throws -> (ProcessEnd.Way, [UInt8]) {
    let folder = try TemporaryFolder()
    let output = folder.path.appending("out")
    let file = try FileDescriptor.open(
      output, .writeOnly, options: [.create, .truncate, .closeOnExec], permissions: .ownerReadWrite)
    var order = ProcessOrder("/bin/sh", [])
    let input = try MemoryFile.of(PathText.bytes(of: script))
    defer { try? input.close() }
    order.input = input
    order.output = file
    let end = try ChildProcess(order).wait()
    try file.close()
    return (
      end.way,
      try MappedFile(output).withBytes { bytes in bytes.withUnsafeBytes { Array($0) } }
    )
  }

  @Test("It is as the specification shows it")
  func literal() {
    let submission = Self.submission(program: "/lab/bin/scanmill", run: "/lab/out/runs/RUN")
    #expect(
      submission.script(setup: ["module load ffmpeg/5.1"]) == """
        #!/bin/sh
        set -e
        trap '' USR2
        module load ffmpeg/5.1
        exec '/lab/bin/scanmill' element '/lab/out/runs/RUN' 40

        """)
    let single = Self.submission(
      program: "/lab/bin/scanmill", run: "/lab/out/runs/RUN", count: 0,
      arguments: ["conclude", "/lab/out/runs/RUN"])
    #expect(
      single.script(setup: [])
        == "#!/bin/sh\nset -e\nexec '/lab/bin/scanmill' conclude '/lab/out/runs/RUN'\n")
  }

  @Test(
    "The program gets every word as it is, whatever is in it",
    arguments: [
      "plain", "two words", "it's", "'", "''", "\"", "\\", "a\\'b", "new\nline", "tab\there",
      "$HOME",
      "`id`", "$(id)", "*", "~", "!x", "#", "&", ";", "", "-n", "Raum Ü'́", "%A_%a", "a\u{10FFFF}b",
    ])
  func words(word: String) throws {
    let folder = "/lab/out \(word)/runs/R"
    let submission = Self.submission(
      program: "/usr/bin/printf", run: FilePath(text: folder), arguments: ["%s\\0", word])
    let (way, bytes) = try Self.run(submission.script(setup: []))
    let expected = [word, "element", FilePath(text: folder).text, "40"]
    #expect(way == .exited(0))
    #expect(bytes == expected.flatMap { PathText.bytes(of: $0) + [0] })
  }

  @Test("Lines before it are of the same shell, and the first that fails ends it")
  func setup() throws {
    let submission = Self.submission(
      program: "/usr/bin/printenv", run: "/r", count: 0, arguments: ["A"])
    let (way, bytes) = try Self.run(submission.script(setup: ["A=1", "export A"]))
    #expect(way == .exited(0) && bytes == Array("1\n".utf8))
    let (failed, nothing) = try Self.run(
      submission.script(setup: ["export A=1", "false", "echo on"]))
    #expect(failed == .exited(1) && nothing.isEmpty)
  }

  @Test("The shell becomes the program: signals that reach it reach the program")
  func exec() throws {
    let submission = Self.submission(
      program: "/bin/sh", run: "/r", count: 0,
      arguments: ["-c", "echo $$ $PPID; ps -o ppid= -p $$"])
    let (_, bytes) = try Self.run(submission.script(setup: ["echo $$ $PPID"]))
    let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
    #expect(lines.count >= 2 && lines[0] == lines[1])
  }
}

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
      Self.submission(count: 1000).options(ClusterProfile()) == [
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
      submission.options(ClusterProfile()) == [
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
    let words = submission.options(profile)
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
      submission.options(profile).suffix(2) == ["--exclude=node[1-2]", "--nice"])
    submission.excludedNodes = ["node7"]
    #expect(
      submission.options(profile).suffix(2) == [
        "--exclude=node7,node[1-2]", "--nice",
      ])
  }

  @Test("Percent signs of a path are no places of a pattern")
  func percent() {
    var submission = Self.submission(count: 2)
    submission.runFolder = "/o 50%A/runs/R"
    submission.output = "/o 50%A"
    let words = submission.options(ClusterProfile())
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
    #expect(submission.options(ClusterProfile()).contains("--mem=\(text)"))
  }

  @Test(
    "Times are hours, minutes and seconds",
    arguments: [
      (2400, "0:40:00"), (43200, "12:00:00"), (360_061, "100:01:01"), (59, "0:00:59"),
      (0, "0:00:01"),
    ])
  func time(seconds: Int, text: String) { #expect(Submission.time(seconds) == text) }
}

@Suite("Answers of sbatch")
struct SubmitTextTests {
  static func answer(
    _ end: SlurmAnswer.End, output: String = "", errors: String = ""
  ) -> SubmissionAnswer {
    SubmissionAnswer(SlurmAnswer(program: "sbatch", end: end, output: output, errors: errors))
  }

  @Test(
    "The id of a job stands alone in its line",
    arguments: [
      ("34\n", "34"), ("34;cluster\n", "34"), ("34", "34"), ("34\r\n", "34"),
      ("Welcome to the lab\n34\n", "34"), ("", nil), ("\n", nil), ("0\n", nil),
      ("Submitted batch job 34\n", nil), ("34;a;b\n", nil), ("34\n35\n", nil), ("-34\n", nil),
      ("34_0\n", nil),
    ] as [(String, String?)])
  func ids(output: String, job: String?) {
    #expect(SubmissionAnswer.job(output) == job)
    if let job {
      #expect(Self.answer(.exited(0), output: output) == .accepted(job: job))
    } else if case .silent = Self.answer(.exited(0), output: output) {
      // It may have been taken: its name will tell.
    } else {
      Issue.record("not silent: \(output)")
    }
  }

  /// The literal words of Slurm 22.05, and what is to be done.
  @Test(
    "Any exit code but 0 is a refusal; the text says which one passes",
    arguments: [
      ("Batch job submission failed: Invalid job array specification", Int32(1), "refused"),
      ("Memory specification can not be satisfied", 1, "refused"),
      ("Batch job submission failed: Requested node configuration is not available", 1, "refused"),
      ("Invalid --time specification", 255, "refused"),
      ("Batch job submission failed: Invalid partition name specified", 1, "refused"),
      (
        "Batch job submission failed: Invalid account or account/partition combination specified",
        1, "refused"
      ),
      ("something nobody has seen", 3, "refused"), ("", 1, "refused"),
      ("AssocMaxSubmitJobLimit", 1, "full"), ("QOSMaxSubmitJobPerUserLimit", 1, "full"),
      (
        "Batch job submission failed: Job violates accounting/QOS policy (job submit limit, "
          + "user's size and/or time limits)", 1, "full"
      ),
      ("Batch job submission failed: Resource temporarily unavailable", 1, "full"),
      (
        "Batch job submission failed: Unable to contact slurm controller (connect failure)", 1,
        "silent"
      ),
      ("Batch job submission failed: Socket timed out on send/recv operation", 1, "silent"),
      ("Batch job submission failed: Zero Bytes were transmitted or received", 1, "silent"),
    ])
  func refusals(text: String, code: Int32, kind: String) {
    let words = text.isEmpty ? "sbatch ended with exit code \(code)" : text
    let expected: SubmissionAnswer =
      switch kind {
      case "full": .full(words)
      case "silent": .silent(words)
      default: .refused(words)
      }
    #expect(Self.answer(.exited(code), errors: "sbatch: error: \(text)\n") == expected)
    #expect(Self.answer(.exited(code), errors: "\(text)\n") == expected)
  }

  @Test("Who does not answer in time may have taken it; who only waits for room has not")
  func silence() {
    #expect(
      Self.answer(.timedOut(seconds: 60)) == .silent("sbatch did not end within 60 s"))
    #expect(
      Self.answer(
        .timedOut(seconds: 60),
        errors: "sbatch: error: Slurm temporarily unable to accept job, sleeping and retrying.\n")
        == .full("Slurm is temporarily unable to accept jobs"))
    #expect(Self.answer(.killed(signal: 9)) == .silent("sbatch was ended by signal 9"))
    #expect(
      Self.answer(.absent)
        == .refused("sbatch is not in PATH: run this where the commands of Slurm are"))
    #expect(Self.answer(.notAsked("it is DOWN")) == .silent("it is DOWN"))
    #expect(
      Self.answer(.notStarted("no memory"))
        == .silent("sbatch could not be started: no memory"))
  }

  @Test("Several lines of errors become one, without names of programs")
  func words() {
    let answer = SlurmAnswer(
      program: "sbatch", end: .exited(1),
      errors: "sbatch: error: invalid partition specified: nope\n\n"
        + "sbatch: error: Batch job submission failed: Invalid partition name specified\n")
    #expect(
      answer.words
        == "invalid partition specified: nope; Batch job submission failed: "
        + "Invalid partition name specified")
  }

  @Test(
    "Commands of Slurm without a configuration are told with what to do",
    arguments: [
      (
        "sbatch: error: fetch_config: DNS SRV lookup failed\n"
          + "sbatch: fatal: Could not establish a configuration source\n", true
      ),
      ("sbatch: fatal: Unable to process configuration file\n", true),
      ("sbatch: error: invalid partition specified: nope\n", false),
    ])
  func unconfigured(errors: String, isTold: Bool) {
    let answer = SlurmAnswer(program: "sbatch", end: .exited(1), errors: errors)
    #expect(answer.words.contains("or name its slurm.conf in SLURM_CONF") == isTold)
  }
}

@Suite("What a site says of itself")
struct SiteTextTests {
  @Test("The configuration is read from among many other lines")
  func config() throws {
    let text = """
      Configuration data as of 2026-11-22T14:36:00
      AccountingStorageEnforce = none
      AccountingStorageType   = accounting_storage/slurmdbd
      KillWait                = 5 sec
      MaxArraySize            = 10001
      SLURM_VERSION           = 22.05.8
      """
    let site = try #require(Site(config: text))
    #expect(site == Site(maxArraySize: 10001, killWaitSeconds: 5, hasAccounting: true))
  }

  @Test(
    "Records are kept where somebody keeps them",
    arguments: [
      ("accounting_storage/none", false), ("accounting_storage/slurmdbd", true),
      ("accounting_storage/filetxt", true), ("(null)", false), ("", false),
    ])
  func accounting(value: String, isKept: Bool) {
    #expect(
      Site(config: "AccountingStorageType   = \(value)\nKillWait = 1 sec")?.hasAccounting
        == isKept)
  }

  @Test("What is not said is as where nobody has set it; of nothing nothing is made")
  func defaults() {
    #expect(Site(config: "KillWait = 30 sec") == Site())
    #expect(Site(config: "") == nil)
    #expect(Site(config: "hello = world\nMaxArraySize\n") == nil)
    #expect(Site(config: "MaxArraySize = many") == nil)
    #expect(Site(config: "MaxArraySize = 99999999999999999999999") == nil)
    #expect(Site(config: "MaxArraySize = 0")?.maxArraySize == 0)
  }

  @Test(
    "One controller that answers is enough, and the text says whether it does",
    arguments: [
      ("Slurmctld(primary) at localhost is UP\n", Int32(0), true),
      (
        "Slurmctld(primary) at localhost is DOWN\n***\n** RESTORE SLURMCTLD DAEMON TO SERVICE **\n",
        1, false
      ),
      ("Slurmctld(primary) at a is DOWN\nSlurmctld(backup) at b is UP\n", 1, true),
      ("Slurmctld(primary) at a is DOWN\nSlurmctld(backup) at b is DOWN\n", 0, false),
      ("Slurmctld(primary/backup) at a/b are DOWN/UP\n", 0, true),
      ("", 0, true), ("", 1, false), ("what is UP\n", 1, false),
    ])
  func ping(output: String, code: Int32, isUp: Bool) {
    let answer = SlurmAnswer(program: "scontrol", end: .exited(code), output: output)
    #expect(answer.isUp == isUp)
    var late = answer
    late.end = .timedOut(seconds: 10)
    #expect(!late.isUp)
  }
}
