/// Parses the output of `sbatch --parsable`.
enum SubmitText {
  /// The job ID in a line `ID` or `ID;CLUSTER`; `nil` unless there is exactly one such line.
  static func job(_ output: String) -> String? {
    let jobs = output.split(whereSeparator: \.isNewline).compactMap { line -> String? in
      let parts = line.trimmed.split(separator: ";", omittingEmptySubsequences: false)
      guard let job = parts.first, parts.count <= 2, TaskKey.isJob(job) else { return nil }
      return String(job)
    }
    return jobs.count == 1 ? jobs[0] : nil
  }

  static func answer(_ answer: SlurmAnswer) -> SubmissionAnswer {
    switch answer.end {
    case .exited(0):
      if let job = job(answer.output) { return .accepted(job: job) }
      let said = answer.output.split(whereSeparator: \.isNewline).first.map(String.init) ?? ""
      return .silent("sbatch answered '\(said.prefix(200))', which is not a job id")
    case .exited:
      return switch RefusalText.kind(answer.errors + "\n" + answer.output) {
      case .full: .full(answer.words)
      case .silent: .silent(answer.words)
      case .final: .refused(answer.words)
      }
    case .timedOut:
      // `sbatch` itself waits and retries for longer than the time-out.
      return RefusalText.kind(answer.errors) == .full ? .full(waiting) : .silent(answer.words)
    case .absent: return .refused(answer.words)
    case .killed, .notStarted, .notAsked, .tooMuch: return .silent(answer.words)
    }
  }

  private static let waiting = "Slurm is temporarily unable to accept jobs"
}

/// Classifies refusals. Every nonzero exit code is one; the text only tells which are temporary.
enum RefusalText {
  enum Kind: Hashable {
    /// A limit that can pass.
    case full
    /// The controller does not answer.
    case silent
    case final
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

  static func kind(_ text: String) -> Kind {
    let text = text.lowercased()
    if silences.contains(where: text.contains) { return .silent }
    return limits.contains(where: text.contains) ? .full : .final
  }
}
