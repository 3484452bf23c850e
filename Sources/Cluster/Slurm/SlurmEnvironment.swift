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
