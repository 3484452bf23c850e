import Engine

/// What the watcher counts, for monitoring. Totals are those of all watchers of the output.
public struct NightMetrics: Sendable, Hashable {
  /// How many captures are in each state; one that is absent here is 0.
  public var captures: [CaptureState: Int] = [:]
  /// Captures that need a person: without those that are marked.
  public var needsPerson = 0
  public var unrecognized = 0
  /// Uploads that went before anything of them was done, since the first watcher.
  public var disappearedTotal = 0
  /// When STAGING was last looked at, in seconds since 1970.
  public var lookTimestampSeconds: Double
  /// When a capture was last done; `nil`: none ever was.
  public var doneTimestampSeconds: Double?
  /// How long the oldest queued capture has waited; 0: none waits.
  public var queueOldestSeconds = 0.0
  public var failuresTotal: [FailureCause: Int] = [:]
  public var framesTotal = 0
  public var bytesWrittenTotal: Int64 = 0
  public var cpuSecondsTotal = 0.0
  public var outputFreeBytes: Int64 = 0
  /// Failures to write something of the watcher's own.
  public var writeFailuresTotal: [WriteFailures.Kind: Int] = [:]
  /// Workers that were ended because they did not get on.
  public var workersStuckTotal = 0
  /// Why nothing new is started; `nil`: nothing keeps it.
  var hold: WatchState.PauseReason?
  public var isStagingMounted = true
  /// How long the capture that has waited longest for anything is as it is: arriving, incomplete or queued.
  public var oldestWaitingSeconds = 0.0
  /// Queued and at work.
  public var remainingCaptures = 0
  public var remainingBytes: Int64 = 0
  /// `nil`: nothing is left, or it cannot be told.
  public var forecastDoneTimestampSeconds: Double?
  public var isDueMissed = false
  /// Of the program.
  public var version: String

  public init(lookTimestampSeconds: Double, version: String) {
    self.lookTimestampSeconds = lookTimestampSeconds
    self.version = version
  }
}
