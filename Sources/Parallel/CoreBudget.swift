import Dispatch
import Synchronization

/// How many cores one run may keep busy at a time, shared by all stages that run together.
///
/// Every worker takes one token for each frame it works on and gives it back after, so that two stages
/// side by side never use more than `cores` threads of work, whatever number of threads exists.
public final class CoreBudget: Sendable {
  public let cores: Int
  private let tokens: DispatchSemaphore

  /// `cores` below 1 counts as 1.
  public init(cores: Int) {
    self.cores = max(1, cores)
    tokens = DispatchSemaphore(value: 0)
    // Raised from 0: a semaphore that dies below its first value traps.
    for _ in 0..<self.cores { tokens.signal() }
  }

  /// Runs `body` while holding one token; waits for one if all are out. Never nest.
  public func withCore<Result>(_ body: () throws -> Result) rethrows -> Result {
    tokens.wait()
    defer { tokens.signal() }
    return try body()
  }
}
