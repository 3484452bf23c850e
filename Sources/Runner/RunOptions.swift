import Pipeline
import SystemPackage

/// How a run is carried out. Nothing in here changes the bytes of an artifact.
public struct RunOptions: Sendable, Codable {
  public var output: FilePath
  public var selection = Selection()
  /// Cores that may be busy at a time.
  public var cores: Int
  /// Compare outputs by digest as well.
  public var verify = false
  /// A capture with any warning counts as failed.
  public var strict = false
  /// Wait for a capture that another run works on.
  public var waitsForLocks = true
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
  /// The build that records name.
  public var program: ProgramIdentity?

  /// The output folder as it was when the run began, once it has.
  var outputPlace: OutputPlace?

  public init(output: FilePath, cores: Int) {
    self.output = output
    self.cores = cores
  }
}
