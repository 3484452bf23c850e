import Testing

@testable import Cluster

@Suite("Answers of sbatch")
struct SubmitTextTests {
  static func answer(
    _ end: SlurmAnswer.End, output: String = "", errors: String = ""
  ) -> SubmissionAnswer {
    SubmitText.answer(SlurmAnswer(program: "sbatch", end: end, output: output, errors: errors))
  }

  @Test(
    "The id of a job stands alone in its line",
    arguments: [
      ("34\n", "34"), ("34;cluster\n", "34"), ("34", "34"), ("34\r\n", "34"),
      ("Welcome to the lab\n34\n", "34"), ("", nil), ("\n", nil), ("0\n", nil),
      ("Submitted batch job 34\n", nil), ("34;a;b\n", nil), ("34\n35\n", nil), ("-34\n", nil),
      ("34_0\n", nil),
    ] as [(String, String?)])
  func ids(output: String, job: String?) {
    #expect(SubmitText.job(output) == job)
    if let job {
      #expect(Self.answer(.exited(0), output: output) == .accepted(job: job))
    } else if case .silent = Self.answer(.exited(0), output: output) {
      // It may have been taken: its name will tell.
    } else {
      Issue.record("not silent: \(output)")
    }
  }

  /// The literal words of Slurm 22.05, and what is to be done.
  @Test(
    "Any exit code but 0 is a refusal; the text says which one passes",
    arguments: [
      ("Batch job submission failed: Invalid job array specification", Int32(1), "refused"),
      ("Memory specification can not be satisfied", 1, "refused"),
      ("Batch job submission failed: Requested node configuration is not available", 1, "refused"),
      ("Invalid --time specification", 255, "refused"),
      ("Batch job submission failed: Invalid partition name specified", 1, "refused"),
      (
        "Batch job submission failed: Invalid account or account/partition combination specified",
        1, "refused"
      ),
      ("something nobody has seen", 3, "refused"), ("", 1, "refused"),
      ("AssocMaxSubmitJobLimit", 1, "full"), ("QOSMaxSubmitJobPerUserLimit", 1, "full"),
      (
        "Batch job submission failed: Job violates accounting/QOS policy (job submit limit, "
          + "user's size and/or time limits)", 1, "full"
      ),
      ("Batch job submission failed: Resource temporarily unavailable", 1, "full"),
      (
        "Batch job submission failed: Unable to contact slurm controller (connect failure)", 1,
        "silent"
      ),
      ("Batch job submission failed: Socket timed out on send/recv operation", 1, "silent"),
      ("Batch job submission failed: Zero Bytes were transmitted or received", 1, "silent"),
    ])
  func refusals(text: String, code: Int32, kind: String) {
    let words = text.isEmpty ? "sbatch ended with exit code \(code)" : text
    let expected: SubmissionAnswer =
      switch kind {
      case "full": .full(words)
      case "silent": .silent(words)
      default: .refused(words)
      }
    #expect(Self.answer(.exited(code), errors: "sbatch: error: \(text)\n") == expected)
    #expect(Self.answer(.exited(code), errors: "\(text)\n") == expected)
  }

  @Test("Who does not answer in time may have taken it; who only waits for room has not")
  func silence() {
    #expect(
      Self.answer(.timedOut(seconds: 60)) == .silent("sbatch did not end within 60 s"))
    #expect(
      Self.answer(
        .timedOut(seconds: 60),
        errors: "sbatch: error: Slurm temporarily unable to accept job, sleeping and retrying.\n")
        == .full("Slurm is temporarily unable to accept jobs"))
    #expect(Self.answer(.killed(signal: 9)) == .silent("sbatch was ended by signal 9"))
    #expect(
      Self.answer(.absent)
        == .refused("sbatch is not in PATH: run this where the commands of Slurm are"))
    #expect(Self.answer(.notAsked("it is DOWN")) == .silent("it is DOWN"))
    #expect(
      Self.answer(.notStarted("no memory"))
        == .silent("sbatch could not be started: no memory"))
  }

  @Test("Several lines of errors become one, without names of programs")
  func words() {
    let answer = SlurmAnswer(
      program: "sbatch", end: .exited(1),
      errors: "sbatch: error: invalid partition specified: nope\n\n"
        + "sbatch: error: Batch job submission failed: Invalid partition name specified\n")
    #expect(
      answer.words
        == "invalid partition specified: nope; Batch job submission failed: "
        + "Invalid partition name specified")
  }

  @Test(
    "Commands of Slurm without a configuration are told with what to do",
    arguments: [
      (
        "sbatch: error: fetch_config: DNS SRV lookup failed\n"
          + "sbatch: fatal: Could not establish a configuration source\n", true
      ),
      ("sbatch: fatal: Unable to process configuration file\n", true),
      ("sbatch: error: invalid partition specified: nope\n", false),
    ])
  func unconfigured(errors: String, isTold: Bool) {
    let answer = SlurmAnswer(program: "sbatch", end: .exited(1), errors: errors)
    #expect(answer.words.contains("or name its slurm.conf in SLURM_CONF") == isTold)
  }
}
