#if canImport(Glibc)
  import Glibc
#endif

/// The clock of the machine that only goes forward: durations and limits are measured with it. It stands while the
/// machine sleeps, and its zero is the start of the machine.
public enum MonotonicClock {
  public static func nanoseconds() -> Int64 {
    var time = timespec()
    guard clock_gettime(CLOCK_MONOTONIC, &time) == 0 else { return 0 }
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }

  public static func seconds() -> Double { Double(nanoseconds()) / 1e9 }
}
