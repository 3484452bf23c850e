import FoundationEssentials
import Engine
import Core
import SystemPackage

/// The plan of a run on a batch system: `plan.json`, written before the first array task is
/// submitted. With the orders, the submissions and the results, any process can continue the run.
public struct ClusterPlan: Sendable, Codable {
  public var schema = 1
  public var run: String
  var nonce: String
  var isDetached: Bool
  public var profile: ClusterProfile
  var limits: ClusterLimits
  public var pipeline: PipelineSource
  public var options: RunOptions
  @CodedPath var workingFolder: FilePath
  public var graceSeconds: Double
  public var program: ProgramIdentity
  @CodedPath var programPath: FilePath
  var programDigest: Digest
  /// Names of captures with work, in order.
  public var work: [String]
  /// The other contents of the report: captures without work, skipped captures and unrecognized
  /// paths.
  var settled: [CaptureReport]
  var unrecognized: [RunReport.Unrecognized]
  /// A command that receives the report at the end of a detached run.
  public var notify: String?
  /// Whether the pipeline contains secrets. If so, other users cannot access the folder of these
  /// files, and orders and plan are removed when the run is over.
  var holdsSecrets = false

  /// Two plans with the same key process a capture in the same way.
  var key: String {
    Self.key(pipeline, options)
  }

  static func key(_ pipeline: PipelineSource, _ options: RunOptions) -> String {
    let parts: [[UInt8]?] = [
      try? JSONText.canonical(pipeline), try? JSONText.canonical(options.selection),
      try? JSONText.canonical([options.strict, options.verify]),
    ]
    return Digest(of: parts.flatMap { $0 ?? [] }).hex
  }
}

/// The settings of profile and command line, with defaults.
public struct ClusterLimits: Hashable, Sendable, Codable {
  public var cores: Int
  var memoryBytes: Int64
  var maxMemoryBytes: Int64
  var timeSeconds: Int
  var maxTimeSeconds: Int
  var group: GroupLimit
  var maxRunning: Int
  var maxQueued: Int
  var pollSeconds: Double
  var patienceSeconds: Double

  /// The default minimum per array task: its own process, a starting worker, and a worker that
  /// processes a large video.
  static let leastMemoryBytes: Int64 = 1 << 30

  /// - Parameters:
  ///   - promised: the memory that admission reserves for a worker.
  ///   - asked: the most cores that a stage of the pipeline requests, and the pipeline's time limit
  ///     for a capture.
  public init(
    _ profile: ClusterProfile, cores: Int?, memoryBytes: Int64?, promised: Int64,
    asked: (cpus: Int?, timeSeconds: Int?)
  ) {
    self.cores = cores ?? profile.cpus ?? asked.cpus ?? 4
    let memory =
      memoryBytes ?? profile.memoryBytes
      ?? max(Self.leastMemoryBytes, Int64(Double(promised) / (1 - ArrayTaskWork.ownShareOfMemory)))
    // Rounded up to the unit of batch systems, MiB.
    self.memoryBytes = ((memory + (1 << 20) - 1) >> 20) << 20
    maxMemoryBytes = max(
      self.memoryBytes, profile.maxMemoryBytes ?? self.memoryBytes.multiplied(by: 4))
    maxTimeSeconds = profile.maxTimeSeconds ?? 12 * 3600
    timeSeconds = min(
      maxTimeSeconds,
      asked.timeSeconds ?? profile.timeSeconds ?? 1800)
    group = profile.group ?? .seconds(600)
    maxRunning = profile.maxRunning ?? 64
    maxQueued = profile.maxQueued ?? 1000
    pollSeconds = profile.pollSeconds ?? 15
    patienceSeconds = profile.patienceSeconds ?? 900
  }
}
