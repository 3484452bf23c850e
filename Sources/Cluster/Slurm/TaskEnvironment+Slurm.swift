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
