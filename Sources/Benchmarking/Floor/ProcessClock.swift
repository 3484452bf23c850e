import Core

#if canImport(Glibc)
  import Glibc
#endif

/// CPU and wall time of this process since the clock was created.
struct ProcessClock {
  private let start = Reading()

  /// Measures `body` by the kernel's counters for all threads of this process.
  static func measure(_ body: () throws -> FloorCount) rethrows -> FloorSample {
    let clock = ProcessClock()
    let count = try body()
    let now = Reading()
    return FloorSample(
      userSeconds: now.user - clock.start.user, systemSeconds: now.system - clock.start.system,
      wallSeconds: now.wall - clock.start.wall, pictures: count.pictures, pixels: count.pixels,
      files: count.files, bytes: count.bytes, problem: count.problem)
  }

  private struct Reading {
    var user: Double
    var system: Double
    var wall: Double

    init() {
      var usage = rusage()
      getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
      user = Double(usage.ru_utime.tv_sec) + Double(usage.ru_utime.tv_usec) / 1e6
      system = Double(usage.ru_stime.tv_sec) + Double(usage.ru_stime.tv_usec) / 1e6
      wall = MonotonicClock.seconds()
    }
  }
}

/// What a part has processed.
struct FloorCount {
  var pictures = 0
  var pixels: Int64 = 0
  var files = 0
  var bytes: Int64 = 0
  var problem: String?

  /// Sizes come from files, so additions must not trap.
  mutating func add(width: Int, height: Int) {
    pictures += 1
    let (product, isTooMany) = Int64(width).multipliedReportingOverflow(by: Int64(height))
    let (sum, overflow) = pixels.addingReportingOverflow(isTooMany ? .max : product)
    pixels = overflow ? .max : sum
  }
}
