import FoundationEssentials
import Engine
import Core
import Synchronization
import SystemPackage

/// Slurm, accessed through its commands.
///
/// Most calls run one command. After a command that failed or was slow, `scontrol ping` first
/// checks the controller, usually within a fraction of a second. Commands are killed after
/// `timeoutSeconds`.
public struct SlurmSystem: BatchSystem {
  private let profile: ClusterProfile
  private let since: String
  private let command: SlurmCommand
  private let memory: SlurmMemory
  private let timeoutSeconds: Double

  /// The largest number of IDs per command.
  static let mostIDs = 100

  /// - Parameters:
  ///   - profile: provides partition, account, qos, setup and extra options.
  ///   - runFolder: its name determines how far back records are searched.
  ///   - environment: its `PATH` is searched for the commands.
  ///   - timeoutSeconds: the limit of each command.
  ///   - slowSeconds: after a command that took this long, the controller is checked first.
  ///     Commands wait 9 s for a controller that does not answer.
  public init(
    profile: ClusterProfile, runFolder: FilePath,
    environment: [String: String] = ProcessOrder.foreignEnvironment,
    timeoutSeconds: Double = 60, slowSeconds: Double = 5
  ) {
    memory = SlurmMemory(slowSeconds: slowSeconds)
    self.profile = profile
    since = RecordsStart.of(run: runFolder.name ?? "")
    command = SlurmCommand(environment: environment)
    self.timeoutSeconds = timeoutSeconds
  }

  /// Number of runs of each command, by name.
  var commandCounts: [String: Int] { command.counts }

  // MARK: Queries

  public func site() -> SiteAnswer {
    let answer = askController("scontrol", ["show", "config"])
    switch answer.end {
    case .absent: return .unusable(answer.words)
    case .exited(0):
      guard let config = SiteText.config(answer.output) else {
        return .unusable("'scontrol show config' did not print a configuration of Slurm")
      }
      if config.maxArraySize == 0 {
        return .unusable("this Slurm has no job arrays (MaxArraySize=0)")
      }
      memory.setAccounting(config.site.hasAccounting)
      return .site(config.site)
    case .exited where RefusalText.kind(answer.errors) != .silent: return .unusable(answer.words)
    default: return .silent(answer.words)
    }
  }

  public func tasks(of jobs: [String]) -> TasksAnswer {
    if jobs.isEmpty { return .table(TaskTable(isQueue: true)) }
    let now = MonotonicClock.seconds()
    if memory.believesRecords(at: now), !memory.isQueueDue(at: now) {
      let answer = records(["-j", jobs.joined(separator: ",")])
      if case .table(let table) = answer {
        memory.noteRecords(of: jobs, listing: Set(table.jobs), at: now)
      }
      return answer
    }
    return queue(["-t", "all", "-j", jobs.joined(separator: ",")])
  }

  public func waitingReasons(of jobs: [String]) -> TasksAnswer {
    if jobs.isEmpty { return .table(TaskTable(isQueue: true)) }
    return queue(["-t", "PENDING", "-j", jobs.joined(separator: ",")])
  }

  public func jobs(named name: String) -> JobsAnswer {
    let queue = queue(["-t", "all", "--name=\(name)"])
    guard case .table(let table) = queue else { return Self.silent(queue) }
    if !table.jobs.isEmpty { return .jobs(table.jobs) }
    // Jobs that ended some minutes ago are in the records only. A failure of the records is
    // ignored.
    if memory.believesRecords(at: MonotonicClock.seconds()),
      case .table(let old) = records(["-S", since, "--name=\(name)"])
    {
      return .jobs(old.jobs)
    }
    return .jobs([])
  }

  private static func silent(_ answer: TasksAnswer) -> JobsAnswer {
    if case .silent(let words) = answer { return .silent(words) }
    return .jobs([])
  }

  private func queue(_ arguments: [String]) -> TasksAnswer {
    let answer = askController("squeue", ["-h"] + arguments + ["-o", QueueText.format])
    if answer.isSuccess {
      return QueueText.table(answer.output).map { .table($0) }
        ?? .silent("the answer of squeue cannot be understood")
    }
    return QueueText.isGone(answer) ? .table(TaskTable(isQueue: true)) : .silent(answer.words)
  }

  private func records(_ arguments: [String]) -> TasksAnswer {
    let answer = run(
      "sacct", ["-X", "-n", "-P"] + arguments + ["--format=\(RecordsText.format)"])
    if answer.isSuccess, let table = RecordsText.table(answer.output) { return .table(table) }
    memory.recordsFailed(at: MonotonicClock.seconds())
    return .silent(answer.isSuccess ? "the answer of sacct cannot be understood" : answer.words)
  }

  // MARK: Changes

  public func submit(_ submission: Submission) -> SubmissionAnswer {
    let script = BatchScript.text(submission, setup: profile.setup)
    return SubmitText.answer(
      askController(
        "sbatch", SubmitOptions.words(submission, profile), input: PathText.bytes(of: script)))
  }

  /// The command and its script as a user could type them. Runs nothing.
  public func preview(_ submission: Submission) -> String {
    let words = SubmitOptions.words(submission, profile).map(BatchScript.shown)
    return "sbatch \(words.joined(separator: " ")) <<'END'\n"
      + BatchScript.text(submission, setup: profile.setup) + "END"
  }

  /// Without options `scancel` ends pending tasks, sends TERM to running ones, and KILL after
  /// KillWait. TERM reaches our program, which has replaced the shell. `--signal=KILL` alone does
  /// the same; only with `--batch` does it kill at once (observed with 22.05). It ends pending
  /// tasks too.
  public func cancel(_ jobs: [String], _ how: JobCancellation) {
    let words =
      switch how {
      case .waiting: ["--state=PENDING"]
      case .orderly: [String]()
      case .kill: ["--batch", "--signal=KILL"]
      }
    var rest = jobs[...]
    while !rest.isEmpty {
      _ = askController("scancel", words + rest.prefix(Self.mostIDs))
      rest = rest.dropFirst(Self.mostIDs)
    }
  }

  public func throttle(_ job: String, to elements: Int) {
    _ = askController(
      "scontrol", ["update", "JobId=\(job)", "ArrayTaskThrottle=\(max(1, elements))"])
  }

  // MARK: Commands

  /// Runs a command that needs the controller, unless the controller is known not to answer.
  private func askController(
    _ program: String, _ arguments: [String], input: [UInt8] = []
  ) -> SlurmAnswer {
    if memory.isTroubled {
      let ping = command.run(
        "scontrol", ["ping"], timeoutSeconds: min(timeoutSeconds, SlurmCommand.pingTimeoutSeconds))
      if ping.end != .absent, !SiteText.isUp(ping) {
        return SlurmAnswer(program: program, end: .notAsked(SiteText.state(ping)))
      }
    }
    let answer = run(program, arguments, input: input)
    memory.noteController(answer)
    return answer
  }

  private func run(_ program: String, _ arguments: [String], input: [UInt8] = []) -> SlurmAnswer {
    command.run(program, arguments, input: input, timeoutSeconds: timeoutSeconds)
  }
}
