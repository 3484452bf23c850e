/// Decides from outside whether a process of this program makes progress. Pure: time and signs of
/// life are passed in.
///
/// Only time that this process observed counts. While the machine slept or this process was
/// stopped, nothing is known about the other process.
public struct LifeWatch: Sendable {
  /// Limits on time without progress.
  public struct Limits: Hashable, Sendable {
    /// Seconds of silence beyond the time that a stage may take without progress.
    var silenceSeconds = 60.0
    /// Seconds of computing without progress, both of clock time and of CPU time.
    var spinSeconds = 120.0

    init() {}

    /// Environment variables that override the limits, for tests.
    static let silenceVariable = "SCANMILL_SILENCE_SECONDS"
    static let spinVariable = "SCANMILL_SPIN_SECONDS"

    /// The default limits, or those that `environment` sets.
    public init(_ environment: [String: String]) {
      silenceSeconds = Self.number(environment[Self.silenceVariable]) ?? silenceSeconds
      spinSeconds = Self.number(environment[Self.spinVariable]) ?? spinSeconds
    }

    private static func number(_ text: String?) -> Double? {
      text.flatMap { Double($0) }.flatMap { $0.isFinite && $0 > 0 ? $0 : nil }
    }
  }

  /// Why the process must be killed.
  public enum Verdict: Hashable, Sendable {
    case silent(seconds: Double)
    case spinning(seconds: Double)

    /// The end of a sentence about the process.
    public var phrase: String {
      switch self {
      case .silent(let seconds): "made no progress for \(Int(seconds.rounded())) s"
      case .spinning(let seconds):
        "used the processor for \(Int(seconds.rounded())) s without progress"
      }
    }
  }

  private let limits: Limits
  private var lastSeconds: Double
  /// Observed seconds without a sign that counts as progress.
  private var silent = 0.0
  /// Observed seconds without any sign, and the CPU time at the last sign.
  private var still = 0.0
  private var stillSinceCPU: Double?
  private var sample: (signs: ProcessSigns, seconds: Double)?
  private var waitedForDisk = 0.0

  /// Longest time that the gap between two calls of `look` counts for, in seconds.
  private static let longestStep = 5.0
  /// Bytes read and page faults per second below which a process counts as waiting: it causes as
  /// many by itself.
  private static let leastReadBytes = 2048.0
  private static let leastFaults = 16.0
  /// Seconds for which waiting for a disk suspends the limit on silence.
  private static let longestDiskWait = 3600.0

  public init(_ limits: Limits, atSeconds now: Double) {
    self.limits = limits
    lastSeconds = now
  }

  /// Records a sign of life that the process has sent.
  public mutating func hear() {
    silent = 0
    waitedForDisk = 0
    still = 0
    stillSinceCPU = nil
  }

  /// Checks the limits; `nil` if the process may go on. May be called often, such as four times a
  /// second: the expensive part runs every few seconds.
  ///
  /// - Parameters:
  ///   - stallSeconds: how long the process may go on without a sign before it should have
  ///     stopped itself; `nil`: without limit.
  ///   - readsAndFaultsCount: whether reads and page faults are progress, for phases in which
  ///     nothing else is counted.
  ///   - signs: reads the current counters of the process.
  public mutating func look(
    atSeconds now: Double, stallSeconds: Double?, readsAndFaultsCount: Bool,
    signs: () -> ProcessSigns?
  ) -> Verdict? {
    let step = min(max(0, now - lastSeconds), Self.longestStep)
    lastSeconds = now
    silent += step
    still += step
    if now - (sample?.seconds ?? -.infinity) >= sampleSeconds, let found = signs() {
      take(found, now, readsAndFaultsCount)
    }
    if let stallSeconds, silent > stallSeconds + limits.silenceSeconds {
      return .silent(seconds: silent)
    }
    if still >= limits.spinSeconds, let cpu = sample?.signs.cpuSeconds, let before = stillSinceCPU,
      cpu - before >= limits.spinSeconds
    {
      return .spinning(seconds: still)
    }
    return nil
  }

  private var sampleSeconds: Double { min(5, limits.spinSeconds / 8, limits.silenceSeconds / 4) }

  private mutating func take(_ found: ProcessSigns, _ now: Double, _ counts: Bool) {
    if let (before, then) = sample {
      let seconds = max(0.1, now - then)
      let hasMoved =
        found.majorFaults > before.majorFaults
        || Double(found.minorFaults - before.minorFaults) >= Self.leastFaults * seconds
        || Double(found.readBytes - before.readBytes) >= Self.leastReadBytes * seconds
      if hasMoved {
        still = 0
        stillSinceCPU = nil
        if counts { silent = 0 }
      }
      if found.waitsForDisk, waitedForDisk < Self.longestDiskWait {
        waitedForDisk += min(seconds, Self.longestStep)
        silent = max(0, silent - min(seconds, Self.longestStep))
      }
    }
    sample = (found, now)
    stillSinceCPU = stillSinceCPU ?? found.cpuSeconds
  }
}
