import Core
import Engine
import FoundationEssentials
import SystemPackage

/// Slurm, accessed through its commands: accepts job arrays and reports the states of their tasks.
///
/// Every call returns after a bounded time, and none throws.
/// Most calls run one command. After a command that failed or was slow, `scontrol ping` first
/// checks the controller, usually within a fraction of a second. Commands are killed after
/// `timeoutSeconds`.
public struct SlurmSystem {
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
    since = Self.recordsStart(ofRun: runFolder.name ?? "")
    command = SlurmCommand(environment: environment)
    self.timeoutSeconds = timeoutSeconds
  }

  /// Number of runs of each command, by name.
  var commandCounts: [String: Int] { command.counts }

  // MARK: Queries

  /// The limits of the site. Asked once per run.
  func site() -> SiteAnswer {
    let answer = askController("scontrol", ["show", "config"])
    switch answer.end {
    case .absent: return .unusable(answer.words)
    case .exited(0):
      guard let site = Site(config: answer.output) else {
        return .unusable("'scontrol show config' did not print a configuration of Slurm")
      }
      if site.maxArraySize == 0 {
        return .unusable("this Slurm has no job arrays (MaxArraySize=0)")
      }
      memory.hasAccounting = site.hasAccounting
      return .site(site)
    case .exited where SlurmAnswer.Refusal(answer.errors) != .silent: return .unusable(answer.words)
    default: return .silent(answer.words)
    }
  }

  /// The states of the tasks of some arrays.
  func tasks(of jobs: [String]) -> SchedulerAnswer<TaskTable> {
    if jobs.isEmpty { return .known(TaskTable(isQueue: true)) }
    let now = MonotonicClock.seconds()
    if memory.believesRecords(at: now), !memory.isQueueDue(at: now) {
      let answer = records(["-j", jobs.joined(separator: ",")])
      if case .known(let table) = answer {
        memory.noteRecords(of: jobs, listing: Set(table.jobs), at: now)
      }
      return answer
    }
    return queue(["-t", "all", "-j", jobs.joined(separator: ",")])
  }

  /// Why tasks of some arrays are pending. For display only.
  func waitingReasons(of jobs: [String]) -> SchedulerAnswer<TaskTable> {
    if jobs.isEmpty { return .known(TaskTable(isQueue: true)) }
    return queue(["-t", "PENDING", "-j", jobs.joined(separator: ",")])
  }

  /// IDs of jobs with this name: pending, running or ended, as far as Slurm remembers them.
  func jobs(named name: String) -> SchedulerAnswer<[String]> {
    switch queue(["-t", "all", "--name=\(name)"]) {
    case .silent(let words): return .silent(words)
    case .known(let table) where !table.jobs.isEmpty: return .known(table.jobs)
    case .known: break
    }
    // Jobs that ended some minutes ago are in the records only. A failure of the records is
    // ignored.
    if memory.believesRecords(at: MonotonicClock.seconds()),
      case .known(let old) = records(["-S", since, "--name=\(name)"])
    {
      return .known(old.jobs)
    }
    return .known([])
  }

  private func queue(_ arguments: [String]) -> SchedulerAnswer<TaskTable> {
    let answer = askController("squeue", ["-h"] + arguments + ["-o", TaskTable.queueFormat])
    if answer.isSuccess {
      return TaskTable(answer.output, isQueue: true).map { .known($0) }
        ?? .silent("the answer of squeue cannot be understood")
    }
    return answer.isOfUnknownJobs ? .known(TaskTable(isQueue: true)) : .silent(answer.words)
  }

  private func records(_ arguments: [String]) -> SchedulerAnswer<TaskTable> {
    let answer = run(
      "sacct", ["-X", "-n", "-P"] + arguments + ["--format=\(TaskTable.recordsFormat)"])
    if answer.isSuccess, let table = TaskTable(answer.output, isQueue: false) {
      return .known(table)
    }
    memory.recordsFailedSeconds = MonotonicClock.seconds()
    return .silent(answer.isSuccess ? "the answer of sacct cannot be understood" : answer.words)
  }

  // MARK: Changes

  /// Submits one array.
  func submit(_ submission: Submission) -> SubmissionAnswer {
    SubmissionAnswer(
      askController(
        "sbatch", submission.options(profile),
        input: PathText.bytes(of: submission.script(setup: profile.setup))))
  }

  /// The command that would submit the array, with its script, as a user could type them. Runs nothing.
  func preview(_ submission: Submission) -> String {
    let words = submission.options(profile).map(Submission.shown)
    return "sbatch \(words.joined(separator: " ")) <<'END'\n"
      + submission.script(setup: profile.setup) + "END"
  }

  /// Requests the end of whole arrays. Only `tasks` shows whether it took effect.
  ///
  /// Without options `scancel` ends pending tasks, sends TERM to running ones, and KILL after
  /// KillWait. TERM reaches our program, which has replaced the shell. `--signal=KILL` alone does
  /// the same; only with `--batch` does it kill at once (observed with 22.05). It ends pending
  /// tasks too.
  func cancel(_ jobs: [String], _ how: JobCancellation) {
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

  /// Changes how many tasks of an array may run at a time.
  func throttle(_ job: String, to elements: Int) {
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
      if ping.end != .absent, !ping.isUp {
        return SlurmAnswer(program: program, end: .notAsked(ping.pingWords))
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

extension Submission {
  /// The script of the job, which `sbatch` reads from its standard input. It stops at the first `setup` line that
  /// fails. Then `exec` replaces the shell by the program, because Slurm signals only the shell.
  func script(setup: [String]) -> String {
    // Until the program handles it, the time limit warning must not end anything.
    let trap = count > 0 ? ["trap '' USR2"] : []
    let lines = ["#!/bin/sh", "set -e"] + trap + setup + ["exec " + command]
    return lines.joined(separator: "\n") + "\n"
  }

  /// The arguments name the task with array index 0; others add their index.
  private var command: String {
    var words = [program.text] + arguments
    if count > 0 { words += ["element", runFolder.text, "\(firstElement)"] }
    return words.map(Self.quoted).joined(separator: " ")
  }

  /// The word quoted for `sh`; any content is safe.
  static func quoted(_ word: String) -> String {
    if !word.isEmpty, word.utf8.allSatisfy(isPlain) { return word }
    // Iterates over scalars, because a quote and a combining accent after it are one character.
    var quoted = String.UnicodeScalarView("'".unicodeScalars)
    for scalar in word.unicodeScalars {
      if scalar == "'" { quoted += "'\\''".unicodeScalars } else { quoted.append(scalar) }
    }
    quoted.append("'")
    return String(quoted)
  }

  /// The word for display: quotes only if necessary.
  static func shown(_ word: String) -> String {
    let isSafe = word.utf8.allSatisfy { isPlain($0) || "=:,./%@+".utf8.contains($0) }
    return isSafe && !word.isEmpty ? word : quoted(word)
  }

  private static func isPlain(_ byte: UInt8) -> Bool {
    byte.isLetterOrDigit || "-_".utf8.contains(byte)
  }
}

extension SlurmSystem {
  /// The time zone farthest behind UTC. Run IDs contain UTC times.
  private static let westmostNanoseconds: Int64 = 12 * 3600 * 1_000_000_000

  /// A time that is not after the start of a run in any time zone: `2026-11-21T00:00:00`.
  static func recordsStart(ofRun id: String) -> String {
    guard let made = RunID(id)?.madeNanoseconds else { return "now-7days" }
    return UTCText.day(nanoseconds: made - westmostNanoseconds) + "T00:00:00"
  }
}

extension TaskTable {
  /// The IDs of its jobs, each once, sorted.
  var jobs: [String] {
    Set(tasks.keys.map(\.job) + folded.map(\.job)).sorted { ($0.count, $0) < ($1.count, $1) }
  }
}

extension Site {
  /// Parses the output of `scontrol show config`. `maxArraySize` is 0 where arrays are disabled;
  /// absent values have their defaults. `nil` if no known key is present.
  init?(config text: String) {
    self.init()
    var isKnown = false
    for line in text.split(whereSeparator: \.isNewline) {
      guard let equals = line.firstIndex(of: "=") else { continue }
      let value = line[line.index(after: equals)...].trimmed
      // The leading number of `1001` or `30 sec`.
      let number = Int(value.prefix { ("0"..."9").contains($0) })
        .map { min($0, TaskKey.mostIndices) }
      switch line[..<equals].trimmed {
      case "MaxArraySize": maxArraySize = number ?? maxArraySize
      case "KillWait": killWaitSeconds = number ?? killWaitSeconds
      case "AccountingStorageType":
        hasAccounting =
          value.hasPrefix("accounting_storage/") && value != "accounting_storage/none"
        isKnown = true
        continue
      default: continue
      }
      isKnown = isKnown || number != nil
    }
    if !isKnown { return nil }
  }
}

extension SlurmAnswer {
  /// Whether any controller answers `scontrol ping`. The text decides; the exit code counts only if
  /// the text names neither state.
  var isUp: Bool {
    guard case .exited(let code) = end else { return false }
    let words = (output + "\n" + errors)
      .split(whereSeparator: \.isNewline)
      .filter { $0.hasPrefix("Slurmctld") }
      .flatMap { $0.split { $0 == " " || $0 == "/" } }
    if words.contains("UP") { return true }
    return !words.contains("DOWN") && code == 0
  }

  /// The text of a failed ping.
  var pingWords: String {
    let said = output.split(whereSeparator: \.isNewline).map(String.init)
    return said.isEmpty ? words : said.joined(separator: "; ")
  }
}
