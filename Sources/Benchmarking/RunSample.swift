/// The resources used by one run of a program.
public struct RunSample: Hashable, Sendable {
  var wallSeconds: Double
  /// User and system time of all its processes.
  public var cpuSeconds: Double
  /// The part of `cpuSeconds` spent in the kernel.
  var systemSeconds: Double = 0
  /// Peak memory of the largest process.
  public var peakMemoryBytes: Int64
  /// Size of the output files.
  var outputBytes: Int64
  /// Stages, for runs of this program.
  public var stages: [RunOutcome.Stage] = []
}
