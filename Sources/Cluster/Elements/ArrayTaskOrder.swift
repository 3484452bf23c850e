import Captures
import Engine
import Core
import SystemPackage

/// The complete instructions of an array task. The file is written before the task is submitted and
/// never changes. A retry is a new array task with its own order.
public struct ArrayTaskOrder: Sendable, Codable {
  public var schema = 1
  public var run: String
  /// From 0, across all arrays of the run.
  public var number: Int
  /// Content of the file `nonce` in the run's folder. A task that reads another value sees a
  /// different folder under the same path.
  var nonce: String
  public var program: ProgramIdentity
  /// Digest of the executable.
  var programDigest: Digest
  public var pipeline: PipelineSource
  public var options: RunOptions
  /// The folder to which relative paths in the pipeline's settings refer.
  @CodedPath var workingFolder: FilePath
  var graceSeconds: Double
  /// Time between the termination signal and the kill.
  var killWaitSeconds: Double
  var request: JobRequest
  public var captures: [ArrayTaskCapture]
  /// Whether the task tests if locks are shared between its node and the supervisor's.
  var probesLocks = false
  /// Whether files of stages with `keep: false` are on the node's own disk.
  var usesScratch = false
  /// Whether the profile has setup lines, which run before the program and use part of its time.
  var hasSetup = false
}

/// One capture of an array task.
public struct ArrayTaskCapture: Sendable, Codable {
  public var target: CaptureTarget
  var history: CaptureHistory

  public var name: String { target.layout.name }
}

/// The attempts at a capture so far in a run.
struct CaptureHistory: Hashable, Sendable, Codable {
  /// Number of array tasks with this capture, including the current one.
  var attempts = 1
  /// Number of its array tasks that failed by themselves without a result for it.
  var breakdowns = 0
  /// The nodes on which its array tasks were lost.
  var lostOn: [String] = []
  /// Memory that the next array task requests for it.
  var memoryBytes: Int64
  var timeSeconds: Int
  /// Whether it gets an array task of its own from now on.
  var isAlone = false
  /// Stages that already ran in this run and are not forced again.
  var done: Set<String> = []
}
