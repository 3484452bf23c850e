import Captures
import Engine
import Core
import SystemPackage

/// The complete instructions of an array task. The file is written before the task is submitted and
/// never changes. A retry is a new array task with its own order.
struct ArrayTaskOrder: Sendable, Codable {
  var schema = 1
  var run: String
  /// From 0, across all arrays of the run.
  var number: Int
  /// Content of the file `nonce` in the run's folder. A task that reads another value sees a
  /// different folder under the same path.
  var nonce: String
  var program: ProgramIdentity
  /// Digest of the executable.
  var programDigest: Digest
  var pipeline: PipelineSource
  var options: RunOptions
  /// The folder to which relative paths in the pipeline's settings refer.
  @CodedPath var workingFolder: FilePath
  var graceSeconds: Double
  /// Time between the termination signal and the kill.
  var killWaitSeconds: Double
  var request: JobRequest
  var captures: [ArrayTaskCapture]
  /// Whether the task tests if locks are shared between its node and the supervisor's.
  var probesLocks = false
  /// Whether files of stages with `keep: false` are on the node's own disk.
  var usesScratch = false
  /// Whether the profile has setup lines, which run before the program and use part of its time.
  var hasSetup = false
}

/// One capture of an array task.
struct ArrayTaskCapture: Sendable, Codable {
  var target: CaptureTarget
  var history: CaptureHistory

  var name: String { target.layout.name }
}

/// The attempts at a capture so far in a run.
struct CaptureHistory: Hashable, Codable {
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
