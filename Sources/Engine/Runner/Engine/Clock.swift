import Core
import SystemPackage

/// The machine's clocks, behind values so that tests can set them.
public struct RunClock: Sendable {
  /// The time in UTC (ISO 8601 with milliseconds), for people: nothing is decided by it.
  public var wallText: @Sendable () -> String
  /// Seconds that only go forward.
  public var monotonicSeconds: @Sendable () -> Double
  /// Nanoseconds since 1970, to tell files that have only just changed.
  public var fileNanoseconds: @Sendable () -> Int64

  public init(
    wallText: @escaping @Sendable () -> String, monotonicSeconds: @escaping @Sendable () -> Double,
    fileNanoseconds: @escaping @Sendable () -> Int64 = FileStamp.nowNanoseconds
  ) {
    self.wallText = wallText
    self.monotonicSeconds = monotonicSeconds
    self.fileNanoseconds = fileNanoseconds
  }

  public static let system = RunClock(
    wallText: { UTCText.text(milliseconds: FileStamp.nowNanoseconds() / 1_000_000) },
    monotonicSeconds: MonotonicClock.seconds)
}
