#if canImport(Glibc)
  import Glibc
#endif

/// The CPU time of threads.
public enum ThreadClock {
  /// User and system time of the calling thread, in nanoseconds.
  public static func cpuNanoseconds() -> Int64 { read(CLOCK_THREAD_CPUTIME_ID) }

  static func read(_ clock: clockid_t) -> Int64 {
    var time = timespec()
    guard clock_gettime(clock, &time) == 0 else { return 0 }
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }
}
