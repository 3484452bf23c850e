import Output
import Storage
import SystemPackage

/// The options of `sbatch` for one submission.
enum SubmitOptions {
  /// How long before the end of its time an element is told, seconds. Slurm tells it up to a minute early.
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
      // Of another kind it would wait for ever when one of them is gone.
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
    // Of two such options the last would count.
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

  /// Rounded up. Never 0, which is all memory of a node.
  private static func megabytes(_ bytes: Int64) -> Int64 {
    let (whole, rest) = max(1, bytes).quotientAndRemainder(dividingBy: 1_000_000)
    return rest == 0 ? whole : whole + 1
  }

  /// `0:40:00`.
  static func time(_ seconds: Int) -> String {
    func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let seconds = max(1, seconds)
    return "\(seconds / 3600):\(two(seconds / 60 % 60)):\(two(seconds % 60))"
  }

  /// In a pattern of file names a percent sign is written twice.
  private static func pattern(_ path: String) -> String {
    path.unicodeScalars.reduce(into: "") { text, scalar in
      text.unicodeScalars.append(scalar)
      if scalar == "%" { text.unicodeScalars.append(scalar) }
    }
  }
}
