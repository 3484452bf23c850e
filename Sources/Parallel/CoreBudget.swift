import Dispatch
import Synchronization

#if canImport(Glibc)
  import Glibc
#endif

/// How many cores one run may keep busy at a time, shared by all stages that run together.
///
/// Every worker takes one token for each frame it works on and gives it back after, so that two stages
/// side by side never use more than `cores` threads of work, whatever number of threads exists. Each
/// stage has a view of its own, which adds up the CPU time of its frames.
public final class CoreBudget: Sendable {
  public let cores: Int
  private let tokens: DispatchSemaphore
  private let cpu = Atomic<Int64>(0)

  /// `cores` below 1 counts as 1.
  public convenience init(cores: Int) {
    let cores = max(1, cores)
    // Raised from 0: a semaphore that dies below its first value traps.
    let tokens = DispatchSemaphore(value: 0)
    for _ in 0..<cores { tokens.signal() }
    self.init(cores: cores, tokens: tokens)
  }

  private init(cores: Int, tokens: DispatchSemaphore) {
    self.cores = cores
    self.tokens = tokens
  }

  /// The same tokens with a CPU account of its own.
  public func view() -> CoreBudget { CoreBudget(cores: cores, tokens: tokens) }

  /// Runs `body` while holding one token; waits for one if all are out. Never nest.
  public func withCore<Result>(_ body: () throws -> Result) rethrows -> Result {
    tokens.wait()
    let start = Self.threadCPUNanoseconds()
    defer {
      cpu.add(Self.threadCPUNanoseconds() - start, ordering: .relaxed)
      tokens.signal()
    }
    return try body()
  }

  /// CPU time spent under tokens of this view.
  public var cpuSeconds: Double { Double(cpu.load(ordering: .relaxed)) / 1e9 }

  private static func threadCPUNanoseconds() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }
}
