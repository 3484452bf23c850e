/// Options of `sbatch` that a run must set itself. With other values it would not find its array
/// tasks or misinterpret how they end.
enum ReservedOption {
  /// The profile key for the same setting.
  private static let keys: [String: String] = [
    "partition": "partition", "account": "account", "qos": "qos", "cpus-per-task": "cpus",
    "mem": "memory", "mem-per-cpu": "memory", "time": "time",
  ]

  private static let fixed: Set<String> = [
    "array", "chdir", "comment", "dependency", "error", "export", "export-file", "help", "input",
    "job-name", "kill-on-invalid-dep", "nodes", "ntasks", "no-requeue", "open-mode", "output",
    "parsable", "requeue", "signal", "test-only", "usage", "version", "wait", "wrap",
  ]

  private static let letters: [Character: String] = [
    "a": "array", "A": "account", "c": "cpus-per-task", "d": "dependency", "D": "chdir",
    "e": "error", "h": "help", "i": "input", "J": "job-name", "n": "ntasks", "N": "nodes",
    "o": "output", "p": "partition", "q": "qos", "t": "time", "x": "exclude", "V": "version",
    "W": "wait",
  ]

  /// The error message for an entry of `extra`; `nil` if it is allowed.
  static func remedy(for word: String) -> String? {
    let name: String
    if word.hasPrefix("--") {
      name = String(word.dropFirst(2).prefix { $0 != "=" })
    } else if word.hasPrefix("-"), let letter = word.dropFirst().first {
      name = letters[letter] ?? ""
    } else {
      return nil
    }
    // Only this form can be merged with the nodes that the run itself avoids.
    if word == "--exclude" || name == "exclude" && !word.hasPrefix("--") {
      return "write it as --exclude=NODES"
    }
    if let key = keys[name] { return "--\(name) is set by the key '\(key)'" }
    return fixed.contains(name) ? "--\(name) is set by scanmill itself" : nil
  }
}
