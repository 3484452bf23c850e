import Captures
import Core
import Synchronization
import SystemPackage

/// Everything that a running stage may access.
public struct StageContext: Sendable {
  public var capture: Capture
  /// The stage's name in the pipeline.
  public var stage: String
  public var parameters: ParameterValues
  /// Published artifacts by port; an optional port without artifact is absent.
  public var inputs: [String: InputArtifact]
  /// Files that parameters name, by parameter.
  public var externalFiles: [String: FilePath]
  public var staging: StagingFolder
  /// Budget with one token per core; each frame in work holds one.
  public var budget: CoreBudget
  public var warnings: WarningCollector
  public var progress: StageProgress
  public var cancellation: Cancellation
  /// The log of this job, for the output of external programs and remarks for people.
  public var log: LogFile
  /// Kinds of the stages that this run asks for and that read its artifact.
  public var readers: Set<String> = []
  /// The most private memory that an external program may allocate, in bytes.
  public var memoryBytes: Int64?

  /// How many frames a stage processes at a time: one per core.
  public var workers: Int { budget.cores }
}

/// A published artifact that a stage reads.
public struct InputArtifact: Sendable {
  public var folder: FilePath
  public var record: ArtifactRecord

  public var stage: String { record.stage }
}

/// What a stage reports in addition to the files it wrote.
public struct StageResult: Sendable {
  /// Number of frames written.
  public var frames: Int
  /// Values that the stage computed for readers of the artifact; recorded next to the parameters.
  public var recorded: [String: JSONValue]
  /// What could not be made because part of the capture cannot be read, one sentence each. The rest
  /// is published, but the stage has failed.
  public var problems: [String] = []
  /// Parts of the capture whose files it copied, where an input was made of them: not part of its fingerprint, but
  /// they must still be the files that the input was made of.
  public var copied: Set<CapturePart> = []
  /// CPU seconds of external programs.
  public var externalCPUSeconds = 0.0
  /// Peak memory of external programs, in bytes.
  public var externalPeakMemoryBytes: Int64 = 0

  public init(frames: Int, recorded: [String: JSONValue] = [:]) {
    self.frames = frames
    self.recorded = recorded
  }
}

/// Counts the frames of one running stage.
public final class StageProgress: Sendable {
  private let state = Mutex((done: 0, total: 0, signs: 0))
  private let wait = Mutex<(@Sendable () -> Bool)?>(nil)

  public init() {}

  /// Sets the function that says whether the stage waits for resources held by others.
  func follow(_ isWaiting: @escaping @Sendable () -> Bool) {
    wait.withLock { $0 = isWaiting }
  }

  /// Whether it makes no progress because other stages have the cores.
  var isWaiting: Bool { wait.withLock { $0 }?() ?? false }

  /// Sets the expected number of frames; 0 = unknown.
  public func expect(_ total: Int) { state.withLock { $0.total = total } }

  public func advance(by frames: Int = 1) { state.withLock { $0.done += frames } }

  /// Signals activity that is not a finished frame.
  public func showLife() { state.withLock { $0.signs += 1 } }

  /// A number that changes with every activity.
  var signsOfLife: Int { state.withLock { $0.done &+ $0.signs } }

  var done: Int { state.withLock { $0.done } }
  var total: Int { state.withLock { $0.total } }
}

/// A flag that running stages check between frames.
public final class Cancellation: Sendable {
  private let reason = Mutex<CancelledError?>(nil)
  private let parent: Cancellation?

  /// A cancellation with a parent is also in force when that of the parent is.
  public init(parent: Cancellation? = nil) {
    self.parent = parent
  }

  /// Cancels; the first reason is kept.
  ///
  /// - Parameter limit: the limit of the stage that was reached, if it was one.
  public func cancel(_ why: String, limit: FailureDetail.Code? = nil) {
    reason.withLock { $0 = $0 ?? CancelledError(reason: why, limit: limit) }
  }

  public var isCancelled: Bool { currentReason != nil }

  /// Whether the parent is cancelled, and not only this one.
  var isCancelledFromOutside: Bool { parent?.isCancelled ?? isCancelled }

  /// Throws when cancelled.
  public func check() throws(CancelledError) {
    if let error = currentReason { throw error }
  }

  private var currentReason: CancelledError? { reason.withLock { $0 } ?? parent?.currentReason }
}

/// The stage was stopped from outside.
public struct CancelledError: Error, Hashable, CustomStringConvertible {
  var reason: String
  /// The limit of the stage that was reached; `nil`: it was stopped for another reason.
  var limit: FailureDetail.Code?
  public var description: String { "stopped: \(reason)" }
}
