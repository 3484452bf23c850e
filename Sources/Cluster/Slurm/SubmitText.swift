import Core
import Engine
import SystemPackage

extension SubmissionAnswer {
  /// Parses the output of `sbatch --parsable`.
  init(_ answer: SlurmAnswer) {
    switch answer.end {
    case .exited(0):
      if let job = Self.job(answer.output) {
        self = .accepted(job: job)
        return
      }
      let said = answer.output.split(whereSeparator: \.isNewline).first.map(String.init) ?? ""
      self = .silent("sbatch answered '\(said.prefix(200))', which is not a job id")
    case .exited:
      self =
        switch SlurmAnswer.Refusal(answer.errors + "\n" + answer.output) {
        case .full: .full(answer.words)
        case .silent: .silent(answer.words)
        case .final: .refused(answer.words)
        }
    case .timedOut where SlurmAnswer.Refusal(answer.errors) == .full:
      // `sbatch` itself waits and retries for longer than the time-out.
      self = .full("Slurm is temporarily unable to accept jobs")
    case .absent: self = .refused(answer.words)
    case .killed, .timedOut, .notStarted, .notAsked, .tooMuch: self = .silent(answer.words)
    }
  }

  /// The job ID in a line `ID` or `ID;CLUSTER`; `nil` unless there is exactly one such line.
  static func job(_ output: String) -> String? {
    let jobs = output.split(whereSeparator: \.isNewline).compactMap { line -> String? in
      let parts = line.trimmed.split(separator: ";", omittingEmptySubsequences: false)
      guard let job = parts.first, parts.count <= 2, TaskKey.isJob(job) else { return nil }
      return String(job)
    }
    return jobs.count == 1 ? jobs[0] : nil
  }
}

extension SlurmAnswer {
  /// Why a command was refused. Every nonzero exit code is a refusal; the text only tells which are
  /// temporary.
  enum Refusal: Hashable {
    /// A limit that can pass.
    case full
    /// The controller does not answer.
    case silent
    case final

    init(_ text: String) {
      let text = text.lowercased()
      let isSilent = Self.silences.contains(where: text.contains)
      self = isSilent ? .silent : Self.limits.contains(where: text.contains) ? .full : .final
    }

    private static let limits = [
      "submitjob",  // AssocMaxSubmitJobLimit, QOSMaxSubmitJobPerUserLimit, QOSGrpSubmitJobsLimit
      "job violates accounting/qos policy", "resource temporarily unavailable",
      "temporarily unable to accept job",
    ]

    private static let silences = [
      "unable to contact slurm controller", "socket timed out", "zero bytes were transmitted",
      "connection refused", "connection timed out", "communication connection failure",
      "in standby mode", "transport endpoint is not connected",
    ]
  }

  /// Whether the answer says that none of the requested jobs is known.
  var isOfUnknownJobs: Bool { !isSuccess && errors.contains("Invalid job id specified") }
}

/// Rows of array tasks: of `squeue`, the queue, and of `sacct`, records of current and ended jobs, which lag
/// behind the queue.
extension TaskTable {
  /// Task, state, reason, node.
  static let queueFormat = "%i|%T|%r|%N"
  static let recordsFormat = "JobID,State,ExitCode,Elapsed,NodeList"

  /// `nil` if there are lines but none can be parsed.
  init?(_ text: String, isQueue: Bool) {
    self.init(isQueue: isQueue)
    let lines = text.split(whereSeparator: \.isNewline)
    let rows = lines.compactMap { Self.row($0, isQueue: isQueue) }
    if rows.isEmpty, !lines.isEmpty { return nil }
    for (key, view) in rows { add(key, view) }
  }

  private static func row(_ line: Substring, isQueue: Bool) -> (TaskKey, TaskView)? {
    let fields = line.split(
      separator: "|", maxSplits: isQueue ? 3 : .max, omittingEmptySubsequences: false)
    guard fields.count >= 2, let key = TaskKey(fields[0].trimmed),
      let (state, by) = TaskView.state(fields[1])
    else { return nil }
    var view = TaskView(state: state, cancelledBy: by)
    let node = isQueue ? 3 : 4
    if fields.count > node { view.node = meaning(fields[node]) }
    guard fields.count > 2 else { return (key, view) }
    if isQueue {
      view.reason = meaning(fields[2])
    } else if state != .pending, state != .running, let end = exit(fields[2]) {
      // Both are 0 for tasks that have not ended.
      (view.exitCode, view.signal) = (end.code, end.signal)
    }
    return (key, view)
  }

  /// Exit code and signal of `127:0` or `0:9`. Signals from 50 on are Slurm's own: 53 means that
  /// files of the job cannot be opened, 125 out of memory.
  private static func exit(_ text: Substring) -> (code: Int, signal: Int?)? {
    let parts = text.trimmed.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 2, let code = Int(parts[0]), let signal = Int(parts[1]) else { return nil }
    return (code, signal == 0 ? nil : signal)
  }

  /// The field's text; `nil` for placeholders that mean "none".
  private static func meaning(_ field: Substring) -> String? {
    let text = field.trimmed
    return ["", "None", "none", "(null)", "None assigned", "N/A", "Unknown"].contains(text)
      ? nil : String(text)
  }
}

extension Substring {
  /// Without whitespace at both ends.
  var trimmed: Substring {
    var text = self.drop(while: \.isWhitespace)
    while text.last?.isWhitespace == true { text.removeLast() }
    return text
  }
}

extension TaskView {
  /// Slurm's names of states.
  private static let known: [String: State] = [
    "PENDING": .pending,
    "RUNNING": .running,
    // Starting, ending or stopped on the node: the task has not ended.
    "COMPLETING": .running, "CONFIGURING": .running, "SUSPENDED": .running, "STOPPED": .running,
    "RESIZING": .running, "SIGNALING": .running, "STAGE_OUT": .running,
    "COMPLETED": .completed,
    "FAILED": .failed,
    "OUT_OF_MEMORY": .outOfMemory,
    "TIMEOUT": .timeout,
    "CANCELLED": .cancelled,
    "DEADLINE": .deadline,
  ]

  /// Ended or requeued for reasons unrelated to the program.
  private static let losses: Set<String> = [
    "NODE_FAIL", "BOOT_FAIL", "PREEMPTED", "REQUEUED", "REQUEUE_HOLD", "REQUEUE_FED",
    "SPECIAL_EXIT", "LAUNCH_FAILED", "RECONFIG_FAIL", "POWER_UP_NODE",
  ]

  /// Parses `RUNNING` or `CANCELLED by 0`. Unknown names are preserved; `nil` if the text is not a
  /// state name.
  static func state(_ text: some StringProtocol) -> (state: State, cancelledBy: String?)? {
    let words = text.split(separator: " ")
    guard var word: String = words.first.map({ String($0) }) else { return nil }
    // Some versions cut the name and end it with `+`.
    if word.hasSuffix("+") { word.removeLast() }
    guard !word.isEmpty, word.utf8.allSatisfy(isLetter) else { return nil }
    let by = words.count >= 3 && words[1] == "by" ? String(words[2]) : nil
    if let state = known[word] { return (state, state == .cancelled ? by : nil) }
    return (losses.contains(word) ? .lost(word) : .unknown(word), nil)
  }

  private static func isLetter(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) || byte == UInt8(ascii: "_")
  }
}

/// The result of running one program of Slurm.
struct SlurmAnswer: Hashable {
  enum End: Hashable {
    case exited(Int32)
    case killed(signal: Int32)
    /// The command exceeded the time-out and was killed.
    case timedOut(seconds: Double)
    /// The program is not in `PATH`.
    case absent
    /// The system could not start it; the value is the reason.
    case notStarted(String)
    /// The command was not run because the controller does not answer; the value is the controller's state.
    case notAsked(String)
    /// The command's output exceeded the limit and it was killed.
    case tooMuch
  }

  var program: String
  var end: End
  var output = ""
  var errors = ""
  var seconds = 0.0

  var isSuccess: Bool { end == .exited(0) }

  /// The result in one line: for an exit code, the error output without the name of the program, if
  /// there is any; otherwise how the program ended.
  var words: String {
    let said = errors.split(whereSeparator: \.isNewline).map(bare).filter { !$0.isEmpty }
    let text = said.joined(separator: "; ")
    switch end {
    case .exited(let code):
      return text.isEmpty
        ? "\(program) ended with exit code \(code)" : String(text.prefix(400)) + remedy(text)
    case .killed(let signal): return "\(program) was ended by signal \(signal)"
    case .timedOut(let seconds): return "\(program) did not end within \(Int(seconds)) s"
    case .absent: return "\(program) is not in PATH: run this where the commands of Slurm are"
    case .notStarted(let why): return "\(program) could not be started: \(why)"
    case .notAsked(let state): return state
    case .tooMuch: return "\(program) printed far more than expected"
    }
  }

  /// What to do where the commands of Slurm find no configuration; else empty.
  private func remedy(_ text: String) -> String {
    let text = text.lowercased()
    let isUnconfigured = [
      "could not establish a configuration source", "slurm.conf: no such file",
      "unable to process configuration file",
    ].contains(where: text.contains)
    return isUnconfigured
      ? ": the commands of Slurm have no configuration on this machine; run this on a node of the cluster that submits "
        + "jobs, or name its slurm.conf in SLURM_CONF"
      : ""
  }

  /// The line without prefixes such as `sbatch: error: `.
  private func bare(_ line: Substring) -> Substring {
    var rest = line
    for prefix in ["\(program): ", "error: ", "fatal: "] where rest.hasPrefix(prefix) {
      rest = rest.dropFirst(prefix.count)
    }
    return rest
  }
}

extension Submission {
  /// The options of `sbatch`.
  func options(_ profile: ClusterProfile) -> [String] {
    var words = ["--parsable", "--job-name=\(name)", "--comment=\(comment)"]
    if count > 0 {
      let throttle = throttle.map { "%\(max(1, $0))" } ?? ""
      words.append("--array=0-\(count - 1)\(throttle)")
    }
    if !after.isEmpty {
      // With any other type the job would wait forever if one of these jobs no longer exists.
      words.append("--dependency=afterany:\(after.joined(separator: ":"))")
      words.append("--kill-on-invalid-dep=no")
    }
    words += [
      "--nodes=1", "--ntasks=1", "--cpus-per-task=\(max(1, request.cores))",
      "--mem=\(Self.megabytes(request.memoryBytes))M", "--time=\(Self.time(request.timeSeconds))",
      "--no-requeue", "--open-mode=append",
    ]
    if count > 0 { words.append("--signal=B:USR2@\(Int(ArrayTaskWork.warningSeconds))") }
    let logs = runFolder.appending(OutputNames.cluster).appending(OutputNames.logs).text
    words += [
      "--chdir=\(output.text)",
      "--output=\(Self.pattern(logs))/\(count > 0 ? "%A_%a" : "%j").log", "--export=ALL",
    ]
    // `sbatch` uses only the last such option, so all nodes go into one.
    let named = profile.extra.filter { $0.hasPrefix(Self.exclude) }.map {
      String($0.dropFirst(Self.exclude.count))
    }
    let excluded = excludedNodes + named
    if !excluded.isEmpty { words.append(Self.exclude + excluded.joined(separator: ",")) }
    if let partition = profile.partition { words.append("--partition=\(partition)") }
    if let account = profile.account { words.append("--account=\(account)") }
    if let qos = profile.qos { words.append("--qos=\(qos)") }
    return words + profile.extra.filter { !$0.hasPrefix(Self.exclude) }
  }

  private static let exclude = "--exclude="

  /// In units of 10⁶ bytes, rounded up. Slurm's `M` is 2²⁰ bytes, so up to 5 % more is reserved.
  /// Never 0, which requests all memory of a node.
  private static func megabytes(_ bytes: Int64) -> Int64 {
    let (whole, rest) = max(1, bytes).quotientAndRemainder(dividingBy: 1_000_000)
    return rest == 0 ? whole : whole + 1
  }

  /// Formats as `0:40:00`.
  static func time(_ seconds: Int) -> String {
    let seconds = max(1, seconds)
    return "\(seconds / 3600):\((seconds / 60 % 60).padded(2)):\((seconds % 60).padded(2))"
  }

  /// Escapes percent signs for a file name pattern.
  private static func pattern(_ path: String) -> String {
    path.unicodeScalars.reduce(into: "") { text, scalar in
      text.unicodeScalars.append(scalar)
      if scalar == "%" { text.unicodeScalars.append(scalar) }
    }
  }
}
