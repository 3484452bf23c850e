import Core
import SystemPackage

/// How a run is carried out. Nothing in here changes the bytes of an artifact.
public struct RunOptions: Sendable, Codable {
  @CodedPath public var output: FilePath
  public var selection = Selection()
  /// Cores that may be busy at a time.
  public var cores: Int
  /// Compare outputs by digest as well.
  public var verify = false
  /// Whether a person started the run: it makes again what `clean` removed.
  public var isByHand = true
  /// A capture with any warning counts as failed.
  public var strict = false
  /// Wait for a capture that another run works on.
  public var waitsForLocks = true
  /// How long a capture that another run works on is waited for; then it is skipped. `nil`: for ever.
  /// Counts only where `waitsForLocks`.
  public var lockPatienceSeconds: Double?
  /// Stop after the first capture that failed.
  public var failFast = false
  /// Attempts beyond the first, for failures that a retry can cure; a stage's own number counts if
  /// it is larger.
  public var retries = 0
  /// How long a stage may show no sign of life before it is stopped, unless the pipeline says otherwise
  /// of it; `nil`: for ever.
  public var stallNanoseconds: Int64? = 600_000_000_000
  /// The pipeline as it was given: noted beside the results for `status` and `explain`.
  public var pipelineSource: PipelineSource?
  /// The most memory that all workers together may use; `nil` = what the machine has to give.
  public var memoryBytes: Int64?
  /// The id (a `RunID`) under which this attempt works in staging; `nil`: that of the run. Of two
  /// processes that carry out parts of one run, each has its own: neither takes what the other is writing
  /// for its own leftovers. Journals and logs stay under the run's id.
  public var attempt: String?
  /// A folder on a disk of this machine's own, absolute, for artifacts of stages with `keep: false` while they
  /// are in use; nothing is left in it. `nil`: they lie in the output as all others. Kept artifacts,
  /// fingerprints and records are the same.
  @CodedOptionalPath public var scratch: FilePath? = nil
  /// The job of a batch system that this process runs in, for people who ask who holds a lock:
  /// `job 123_45`.
  public var jobName: String?
  /// The build that records name.
  public var program: ProgramIdentity?

  /// The id that names in staging carry in `run`.
  func attempt(of run: String) -> String {
    // A name that is no run id would not be recognized as ours in staging.
    attempt.flatMap { RunID($0)?.text } ?? run
  }

  /// The output folder as it was when the run began, once it has.
  var outputPlace: OutputGuard?

  public init(output: FilePath, cores: Int) {
    self.output = output
    self.cores = cores
    EnclosedPaths.enclose(output, links: .none)
  }
}
