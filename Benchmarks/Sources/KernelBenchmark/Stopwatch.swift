import Glibc

/// Runs kernels.
enum Stopwatch {
  /// Calls the kernel once, then `iterations` times; what it takes, as a line. With 0 iterations what the
  /// program does is what is taken off a count of instructions.
  static func line(_ kernel: Kernel, iterations: Int) throws -> String {
    let call = try kernel.prepare()
    var result = try call()
    var times: [Double] = []
    for _ in 0..<iterations {
      let start = seconds()
      result = try call()
      times.append((seconds() - start) * 1000)
    }
    times.sort()
    guard let fastest = times.first else { return "\(kernel.name): result \(result)" }
    let median = rounded(times[times.count / 2])
    return "\(kernel.name): fastest \(rounded(fastest)) ms, median \(median) ms, result \(result)"
  }

  private static func rounded(_ value: Double) -> Double { (value * 1000).rounded() / 1000 }

  private static func seconds() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }
}
