import Core
import SystemPackage

#if canImport(Glibc)
  import Glibc
#endif

/// The machine's clocks, behind values so that tests can set them.
public struct RunClock: Sendable {
  /// UTC, ISO 8601 with milliseconds. For people: nothing is decided by it.
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

/// What the process has used.
enum ProcessUsage {
  /// Peak resident memory in bytes, of this program: what the kernel tells of a process (`ru_maxrss`) takes in the
  /// memory of the one that started it.
  static var peakMemoryBytes: Int64 {
    if let line = ControlGroup.lines("/proc/self/status", most: 8192)
      .first(where: { $0.hasPrefix("VmHWM:") }),
      let kilobytes = line.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first
        .flatMap({ Int64($0) })
    {
      return kilobytes * 1024
    }
    var usage = rusage()
    getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    return Int64(usage.ru_maxrss) * 1024
  }
}
