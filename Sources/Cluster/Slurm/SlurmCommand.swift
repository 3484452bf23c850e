import Core
import Glibc
import SystemPackage

/// Runs programs of Slurm as children of the calling thread, with a time-out.
///
/// A program that exceeds the time-out is killed with all of its descendants. If this process dies,
/// the program is killed too.
final class SlurmCommand {
  /// Slurm's commands themselves wait 9 s for a controller that does not answer.
  static let timeoutSeconds = 60.0
  static let pingTimeoutSeconds = 10.0
  /// The rows of 100,000 array tasks are about 10 MB.
  static let mostOutputBytes = 64 << 20
  private static let mostErrorBytes = 64 << 10

  /// Prefixes of variables that jobs or users set and that would change requests or answers.
  /// `SLURM_CONF`, which locates Slurm, is none of them.
  private static let cleared = [
    "SBATCH_", "SLURM_", "SLURMD_", "SQUEUE_", "SACCT_", "SCANCEL_", "SCONTROL_",
  ]

  private let environment: [String: String]
  /// Number of runs of each program.
  private(set) var counts: [String: Int] = [:]

  /// - Parameter environment: the supervisor's; its `PATH` is searched for the programs.
  init(environment: [String: String]) {
    self.environment = environment
  }

  /// Runs `program` and waits for it. Must not be called from a thread that handles signals.
  func run(
    _ program: String, _ arguments: [String], input: [UInt8] = [],
    timeoutSeconds: Double = SlurmCommand.timeoutSeconds
  ) -> SlurmAnswer {
    guard let path = find(program) else { return SlurmAnswer(program: program, end: .absent) }
    counts[program, default: 0] += 1
    var order = ProcessOrder(path.text, arguments)
    var variables = environment.filter { name, _ in
      name == "SLURM_CONF" || !Self.cleared.contains { name.hasPrefix($0) }
    }
    // Without this variable `squeue` cuts the index list of an array after 64 characters. Jobs
    // inherit the environment of `sbatch`.
    if program != "sbatch" { variables["SLURM_BITSTR_LEN"] = "0" }
    order.environment = variables
    order.isGuarded = true
    // A wrapper of a site may start the job on this machine.
    order.sparesDaemons = true
    order.diesWithStarter = true
    do {
      return try run(order, program, input, timeoutSeconds)
    } catch {
      let why = (error as? FileError)?.reason ?? "\(error)"
      return SlurmAnswer(program: program, end: .notStarted(why))
    }
  }

  private func find(_ program: String) -> FilePath? {
    let search = environment["PATH"] ?? "/usr/local/bin:/usr/bin:/bin"
    return ProgramPath.find(
      program, in: search.split(separator: ":").filter { $0.hasPrefix("/") })
  }

  private func run(
    _ order: ProcessOrder, _ program: String, _ input: [UInt8], _ timeoutSeconds: Double
  ) throws -> SlurmAnswer {
    var order = order
    let start = MonotonicClock.seconds()
    let script = try input.isEmpty ? nil : MemoryFile.of(input)
    defer { try? script?.close() }
    let output = try Pipe()
    defer { try? output.reading.close() }
    let errors: Pipe
    do throws(FileError) {
      errors = try Pipe()
    } catch {
      try? output.writing.close()
      throw error
    }
    defer { try? errors.reading.close() }
    if let script { order.input = script }
    order.output = output.writing
    order.error = errors.writing
    let started = Result { try ChildProcess(order) }
    try? output.writing.close()
    try? errors.writing.close()
    let child = try started.get()

    var following = ProgramFollower(
      child, output: output.reading, errors: errors.reading,
      limits: (Self.mostOutputBytes, Self.mostErrorBytes))
    var answer = SlurmAnswer(program: program, end: .timedOut(seconds: timeoutSeconds))
    switch following.follow(until: start + timeoutSeconds) {
    case .ended(let end):
      switch end.way {
      case .exited(let code): answer.end = .exited(code)
      case .killed(let signal): answer.end = .killed(signal: signal)
      }
    case .tooMuch: answer.end = .tooMuch
    case .timedOut: break
    }
    answer.output = following.outputText
    answer.errors = following.errorText
    answer.seconds = MonotonicClock.seconds() - start
    return answer
  }
}

extension TaskEnvironment {
  /// Reads the variables that Slurm sets. Outside of a job: index 0 and all resources of the
  /// machine.
  ///
  /// `SLURM_MEM_PER_NODE` is in MiB. It is absent if the site does not manage memory, and 0 for all
  /// memory of a node.
  public init(slurm environment: [String: String]) {
    func number(_ name: String) -> Int? { environment[name].flatMap { Int($0) } }
    index = number("SLURM_ARRAY_TASK_ID") ?? 0
    let id = environment["SLURM_ARRAY_JOB_ID"] ?? environment["SLURM_JOB_ID"] ?? "0"
    // The id becomes part of a file name.
    let plain = id.utf8.allSatisfy(\.isDigit) && !id.isEmpty ? id : "0"
    job = number("SLURM_ARRAY_TASK_ID").map { "\(plain)_\($0)" } ?? plain
    cores = number("SLURM_CPUS_PER_TASK").flatMap { (1...4096).contains($0) ? $0 : nil }
    scratch = environment["SLURM_TMPDIR"].flatMap { $0.hasPrefix("/") ? $0 : nil }
    node = environment["SLURMD_NODENAME"].flatMap { $0.isEmpty ? nil : $0 }
    memoryBytes = number("SLURM_MEM_PER_NODE").flatMap { megabytes in
      (1...1 << 30).contains(megabytes) ? Int64(megabytes) << 20 : nil
    }
  }
}

/// What is known about Slurm from its earlier answers.
final class SlurmMemory {
  /// Whether the last command to the controller was slow or got no answer.
  private(set) var isTroubled = false
  var hasAccounting = false
  /// Monotonic time of the last failure of `sacct`.
  var recordsFailedSeconds: Double?
  /// By job, the monotonic time since which records have not listed it although asked.
  private var unlisted: [String: Double] = [:]
  /// Monotonic time of the last query of the queue instead of the records.
  private var queueAsked: Double?
  /// Whether the last query went to the queue.
  private var wasQueue = false

  private let slowSeconds: Double
  /// How long records are not asked after a failure.
  static let recordsPauseSeconds = 300.0

  /// Records may lag by minutes. A job that is not listed for this long may never be.
  static let unlistedSeconds = 120.0
  /// Interval in which the queue is asked instead of the records. Records may list a job as running
  /// forever although the controller has forgotten it ("runaway jobs").
  static let queueCheckSeconds = 300.0

  init(slowSeconds: Double) {
    self.slowSeconds = slowSeconds
  }

  /// Whether the site keeps records and they did not fail recently.
  func believesRecords(at seconds: Double) -> Bool {
    hasAccounting && recordsFailedSeconds.map { seconds - $0 >= Self.recordsPauseSeconds } ?? true
  }

  /// Notes which of the `asked` jobs a records answer lists.
  func noteRecords(of asked: [String], listing listed: Set<String>, at seconds: Double) {
    let missing = asked.filter { !listed.contains($0) }
    unlisted = Dictionary(
      uniqueKeysWithValues: missing.map { ($0, unlisted[$0] ?? seconds) })
    queueAsked = queueAsked ?? seconds
  }

  /// Whether this query must go to the queue although there are records: at regular intervals, and
  /// every other time while the records omit a job. A `true` result counts as asked.
  func isQueueDue(at seconds: Double) -> Bool {
    guard let asked = queueAsked else { return false }
    let isUnlisted = unlisted.values.contains { seconds - $0 >= Self.unlistedSeconds }
    wasQueue = isUnlisted ? !wasQueue : seconds - asked >= Self.queueCheckSeconds
    if wasQueue { queueAsked = seconds }
    return wasQueue
  }

  /// Notes whether the controller answered in time. A refusal counts as an answer.
  func noteController(_ answer: SlurmAnswer) {
    let isSilent: Bool
    switch answer.end {
    case .exited(0), .absent: isSilent = false
    case .exited: isSilent = SlurmAnswer.Refusal(answer.errors) == .silent
    case .killed, .timedOut, .notStarted, .notAsked, .tooMuch: isSilent = true
    }
    isTroubled = isSilent || answer.seconds >= slowSeconds
  }
}
