import Core

/// The environment of Slurm's programs.
enum SlurmEnvironment {
  /// Prefixes of variables that jobs or users set and that would change requests or answers.
  private static let cleared = [
    "SBATCH_", "SLURM_", "SLURMD_", "SQUEUE_", "SACCT_", "SCANCEL_", "SCONTROL_",
  ]

  /// The variables without those that refer to other jobs or set other defaults. `SLURM_CONF` is
  /// kept because it locates Slurm.
  static func of(_ variables: [String: String]) -> [String: String] {
    variables.filter { name, _ in
      name == "SLURM_CONF" || !cleared.contains { name.hasPrefix($0) }
    }
  }

  /// The environment of queries. Without this variable `squeue` cuts the index list of an array
  /// after 64 characters.
  static func ofQuestions(_ variables: [String: String]) -> [String: String] {
    of(variables).merging(["SLURM_BITSTR_LEN": "0"]) { _, new in new }
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
