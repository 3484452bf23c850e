/// Judges from outside whether a process of ours gets on. Pure: clocks and signs are given to it.
///
/// Only time counts in which this process looked: that during which the machine slept, or this process was stopped,
/// says nothing about the other.
public struct LifeWatch: Sendable {
  /// How long what may go on.
  public struct Limits: Hashable, Sendable {
    /// Beyond the time that a stage may show no progress.
    public var silenceSeconds = 60.0
    /// Computing without progress, both of the clock and of the processor.
    public var spinSeconds = 120.0

    public init() {}

    /// The variables that set others, for tests.
    public static let silenceVariable = "SCANMILL_SILENCE_SECONDS"
    public static let spinVariable = "SCANMILL_SPIN_SECONDS"

    /// The usual ones, or those that `environment` names.
    public init(_ environment: [String: String]) {
      silenceSeconds = Self.number(environment[Self.silenceVariable]) ?? silenceSeconds
      spinSeconds = Self.number(environment[Self.spinVariable]) ?? spinSeconds
    }

    private static func number(_ text: String?) -> Double? {
      text.flatMap { Double($0) }.flatMap { $0.isFinite && $0 > 0 ? $0 : nil }
    }
  }

  /// Why it is to be ended.
  public enum Verdict: Hashable, Sendable {
    case silent(seconds: Double)
    case spinning(seconds: Double)
  }

  private let limits: Limits
  private var lastSeconds: Double
  /// Without any sign that counts, as far as was looked.
  private var silent = 0.0
  /// Without any sign at all, and the CPU time when the last one came.
  private var still = 0.0
  private var stillSinceCPU: Double?
  private var sample: (signs: ProcessSigns, seconds: Double)?
  private var waitedForDisk = 0.0

  /// A longer gap between two looks counts as this long.
  private static let longestStep = 5.0
  /// What is less is what a process that waits does to look after itself, per second.
  private static let leastReadBytes = 2048.0
  private static let leastFaults = 16.0
  /// How long a wait for a disk stops the clock of silence.
  private static let diskPatience = 3600.0

  public init(_ limits: Limits, atSeconds now: Double) {
    self.limits = limits
    lastSeconds = now
  }

  /// It has said that something has gone on.
  public mutating func hear() {
    silent = 0
    waitedForDisk = 0
    still = 0
    stillSinceCPU = nil
  }

  /// Looks. Often: four times a second is fine, what costs something is done every few seconds.
  ///
  /// - Parameters:
  ///   - stallSeconds: how long it may go on without a sign before it should have stopped itself; `nil`: for ever.
  ///   - readsAndFaultsCount: whether reading and use of memory are progress: where nothing else is counted.
  ///   - signs: of the process now.
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
      if found.waitsForDisk, waitedForDisk < Self.diskPatience {
        waitedForDisk += min(seconds, Self.longestStep)
        silent = max(0, silent - min(seconds, Self.longestStep))
      }
    }
    sample = (found, now)
    stillSinceCPU = stillSinceCPU ?? found.cpuSeconds
  }
}
