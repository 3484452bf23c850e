import Captures
import Output
import Pipeline
import Runner
import Storage
import SystemPackage

/// All that an element is told: a file that is written before it is submitted and never changed. Trying
/// again is another element with an order of its own.
public struct ArrayTaskOrder: Sendable, Codable {
  public var schema = 1
  public var run: String
  /// From 0, over all arrays of the run.
  public var number: Int
  /// What the file `nonce` of the run's folder holds: who sees another one sees another folder.
  public var nonce: String
  public var program: ProgramIdentity
  /// Of the executable.
  public var programDigest: Digest
  public var pipeline: PipelineSource
  public var options: RunOptions
  /// Where relative paths in the pipeline's settings begin.
  @CodedPath public var workingFolder: FilePath
  public var graceSeconds: Double
  /// Between the signal that tells it to end and the kill.
  public var killWaitSeconds: Double
  public var request: JobRequest
  public var captures: [ArrayTaskCapture]
  /// Whether it is to find out if locks hold between its node and the supervisor's.
  public var probesLocks = false
  /// Whether files of stages that are not kept lie on the node's own disk.
  public var usesScratch = false
  /// Whether lines of the profile go on before the program, which take some of its time.
  public var hasSetup = false
}

/// One capture of an element.
public struct ArrayTaskCapture: Sendable, Codable {
  public var target: CaptureTarget
  public var history: CaptureHistory

  public var name: String { target.layout.name }
}

/// What has been tried with a capture so far in a run.
public struct CaptureHistory: Hashable, Sendable, Codable {
  /// Elements that it has been part of, this one included.
  public var attempts = 1
  /// Elements that ended without a word, by their own doing.
  public var breakdowns = 0
  /// Nodes that an element of it was lost with.
  public var lostOn: [String] = []
  /// What the next element asks for on its behalf.
  public var memoryBytes: Int64
  public var timeSeconds: Int
  /// Whether it has an element to itself from now on.
  public var isAlone = false
  /// Stages that have run in this run and are not forced again.
  public var done: Set<String> = []

  public init(memoryBytes: Int64, timeSeconds: Int) {
    self.memoryBytes = memoryBytes
    self.timeSeconds = timeSeconds
  }
}
