import Engine

/// What the watcher counts, for monitoring. Totals are those of all watchers of the output.
public struct NightMetrics: Sendable, Hashable {
  /// How many captures are in each state; one that is absent here is 0.
  public var captures: [CaptureState: Int] = [:]
  /// Captures that need a person: without those that are marked.
  var needsPerson = 0
  var unrecognized = 0
  /// Uploads that went before anything of them was done, since the first watcher.
  var disappearedTotal = 0
  /// When STAGING was last looked at, in seconds since 1970.
  var lookTimestampSeconds: Double
  /// When a capture was last done; `nil`: none ever was.
  var doneTimestampSeconds: Double?
  /// How long the oldest queued capture has waited; 0: none waits.
  var queueOldestSeconds = 0.0
  var failuresTotal: [FailureCause: Int] = [:]
  var framesTotal = 0
  var bytesWrittenTotal: Int64 = 0
  var cpuSecondsTotal = 0.0
  var outputFreeBytes: Int64 = 0
  /// Failures to write something of the watcher's own.
  var writeFailuresTotal: [WriteFailures.Kind: Int] = [:]
  /// Workers that were ended because they did not get on.
  var workersStuckTotal = 0
  /// Why nothing new is started; `nil`: nothing keeps it.
  var hold: WatchState.PauseReason?
  var isStagingMounted = true
  /// How long the capture that has waited longest for anything is as it is: arriving, incomplete or queued.
  var oldestWaitingSeconds = 0.0
  /// Queued and at work.
  var remainingCaptures = 0
  var remainingBytes: Int64 = 0
  /// `nil`: nothing is left, or it cannot be told.
  var forecastDoneTimestampSeconds: Double?
  var isDueMissed = false
  /// Version of the program.
  public var version: String
}
