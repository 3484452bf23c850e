/// What one run of a program took.
public struct RunSample: Hashable, Sendable {
  public var wallSeconds: Double
  /// User and system, with all processes that it started.
  public var cpuSeconds: Double
  /// The part of it that the kernel took.
  public var systemSeconds: Double
  /// Of the largest process.
  public var peakMemoryBytes: Int64
  /// Of the files that it left.
  public var outputBytes: Int64
  /// For our own runs.
  public var stages: [RunOutcome.Stage]

  public init(
    wallSeconds: Double, cpuSeconds: Double, systemSeconds: Double = 0, peakMemoryBytes: Int64,
    outputBytes: Int64,
    stages: [RunOutcome.Stage] = []
  ) {
    self.wallSeconds = wallSeconds
    self.cpuSeconds = cpuSeconds
    self.systemSeconds = systemSeconds
    self.peakMemoryBytes = peakMemoryBytes
    self.outputBytes = outputBytes
    self.stages = stages
  }
}
