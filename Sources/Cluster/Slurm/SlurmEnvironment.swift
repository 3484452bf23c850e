/// The variables that Slurm's programs run with.
enum SlurmEnvironment {
  /// What a job sets, and what users set to have it otherwise: it would change requests and answers.
  private static let cleared = [
    "SBATCH_", "SLURM_", "SLURMD_", "SQUEUE_", "SACCT_", "SCANCEL_", "SCONTROL_",
  ]

  /// Those of this process without what is about other jobs or other defaults. `SLURM_CONF` stays: it says
  /// where Slurm is.
  static func of(_ variables: [String: String]) -> [String: String] {
    variables.filter { name, _ in
      name == "SLURM_CONF" || !cleared.contains { name.hasPrefix($0) }
    }
  }

  /// For a program that is asked, not told: without it the indices of an array are cut off after 64
  /// letters (`squeue`, SLURM_BITSTR_LEN).
  static func ofQuestions(_ variables: [String: String]) -> [String: String] {
    of(variables).merging(["SLURM_BITSTR_LEN": "0"]) { _, new in new }
  }
}

extension TaskEnvironment {
  /// As Slurm tells a program by its environment. Outside of a job: the element with index 0, with what
  /// the machine has.
  ///
  /// `SLURM_MEM_PER_NODE` is in MiB; absent where the site does not count memory, and 0 for all of a node.
  public init(slurm environment: [String: String]) {
    func number(_ name: String) -> Int? { environment[name].flatMap { Int($0) } }
    index = number("SLURM_ARRAY_TASK_ID") ?? 0
    let id = environment["SLURM_ARRAY_JOB_ID"] ?? environment["SLURM_JOB_ID"] ?? "0"
    // It becomes part of a file's name.
    let plain = id.utf8.allSatisfy { (0x30...0x39).contains($0) } && !id.isEmpty ? id : "0"
    job = number("SLURM_ARRAY_TASK_ID").map { "\(plain)_\($0)" } ?? plain
    cores = number("SLURM_CPUS_PER_TASK").flatMap { (1...4096).contains($0) ? $0 : nil }
    scratch = environment["SLURM_TMPDIR"].flatMap { $0.hasPrefix("/") ? $0 : nil }
    node = environment["SLURMD_NODENAME"].flatMap { $0.isEmpty ? nil : $0 }
    memoryBytes = number("SLURM_MEM_PER_NODE").flatMap { megabytes in
      (1...1 << 30).contains(megabytes) ? Int64(megabytes) << 20 : nil
    }
  }
}
