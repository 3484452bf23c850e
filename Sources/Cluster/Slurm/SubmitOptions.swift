import Engine
import Core
import SystemPackage

/// The options of `sbatch` for one submission.
enum SubmitOptions {
  /// Seconds between the warning and the end of a task's time limit. Slurm may send the warning up
  /// to a minute early.
  static let warningSeconds = Int(ArrayTaskWork.warningSeconds)

  static func words(_ submission: Submission, _ profile: ClusterProfile) -> [String] {
    let request = submission.request
    var words = [
      "--parsable", "--job-name=\(submission.name)", "--comment=\(submission.comment)",
    ]
    if submission.count > 0 {
      let throttle = submission.throttle.map { "%\(max(1, $0))" } ?? ""
      words.append("--array=0-\(submission.count - 1)\(throttle)")
    }
    if !submission.after.isEmpty {
      // With any other type the job would wait forever if one of these jobs no longer exists.
      words.append("--dependency=afterany:\(submission.after.joined(separator: ":"))")
      words.append("--kill-on-invalid-dep=no")
    }
    words += [
      "--nodes=1", "--ntasks=1", "--cpus-per-task=\(max(1, request.cores))",
      "--mem=\(megabytes(request.memoryBytes))M", "--time=\(time(request.timeSeconds))",
      "--no-requeue", "--open-mode=append",
    ]
    if submission.count > 0 { words.append("--signal=B:USR2@\(warningSeconds)") }
    let logs = submission.runFolder.appending(OutputNames.cluster).appending(OutputNames.logs).text
    words += [
      "--chdir=\(submission.output.text)",
      "--output=\(pattern(logs))/\(submission.count > 0 ? "%A_%a" : "%j").log", "--export=ALL",
    ]
    // `sbatch` uses only the last such option, so all nodes go into one.
    let named = profile.extra.filter { $0.hasPrefix(exclude) }.map {
      String($0.dropFirst(exclude.count))
    }
    let excluded = submission.excludedNodes + named
    if !excluded.isEmpty { words.append(exclude + excluded.joined(separator: ",")) }
    if let partition = profile.partition { words.append("--partition=\(partition)") }
    if let account = profile.account { words.append("--account=\(account)") }
    if let qos = profile.qos { words.append("--qos=\(qos)") }
    return words + profile.extra.filter { !$0.hasPrefix(exclude) }
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
    func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let seconds = max(1, seconds)
    return "\(seconds / 3600):\(two(seconds / 60 % 60)):\(two(seconds % 60))"
  }

  /// Escapes percent signs for a file name pattern.
  private static func pattern(_ path: String) -> String {
    path.unicodeScalars.reduce(into: "") { text, scalar in
      text.unicodeScalars.append(scalar)
      if scalar == "%" { text.unicodeScalars.append(scalar) }
    }
  }
}
