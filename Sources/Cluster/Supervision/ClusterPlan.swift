import FoundationEssentials
import Output
import Pipeline
import Runner
import Storage
import SystemPackage

/// What a run on a batch system set out to do: `plan.json`, written before the first element. With the
/// orders, the submissions and the results it is all that anybody needs to go on with the run.
public struct ClusterPlan: Sendable, Codable {
  public var schema = 1
  public var run: String
  public var nonce: String
  public var isDetached: Bool
  public var profile: ClusterProfile
  public var limits: ClusterLimits
  public var pipeline: PipelineSource
  public var options: RunOptions
  @CodedPath public var workingFolder: FilePath
  public var graceSeconds: Double
  public var program: ProgramIdentity
  @CodedPath public var programPath: FilePath
  public var programDigest: Digest
  /// Captures with work, in their order.
  public var work: [String]
  /// All that the report needs besides: captures without work, paths that led to none, and the like.
  public var settled: [CaptureReport]
  public var unrecognized: [RunReport.Unrecognized]
  /// Told of the end of a detached run.
  public var notify: String?
  /// Whether the pipeline holds what nobody else may read: then the folder of these files is closed to others,
  /// and orders and plan go when the run is over.
  public var holdsSecrets = false

  /// Two plans with one key do the same to a capture.
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

/// Profile and command line, with what stands for what neither says.
public struct ClusterLimits: Hashable, Sendable, Codable {
  public var cores: Int
  public var memoryBytes: Int64
  public var maxMemoryBytes: Int64
  public var timeSeconds: Int
  public var maxTimeSeconds: Int
  public var group: GroupLimit
  public var maxRunning: Int
  public var maxQueued: Int
  public var pollSeconds: Double
  public var patienceSeconds: Double

  /// The least that an element is given where nobody says more: its own process, one that is about to
  /// become a worker, and a worker at work on a large video.
  static let leastMemoryBytes: Int64 = 1 << 30

  /// - Parameters:
  ///   - promised: what admission promises a worker.
  ///   - asked: of the pipeline: the most cores that a stage wants, and how long a capture may take.
  public init(
    _ profile: ClusterProfile, cores: Int?, memoryBytes: Int64?, promised: Int64,
    asked: (cpus: Int?, timeSeconds: Int?)
  ) {
    self.cores = cores ?? profile.cpus ?? asked.cpus ?? ClusterProfile.defaultCPUs
    let memory =
      memoryBytes ?? profile.memoryBytes
      ?? max(Self.leastMemoryBytes, Int64(Double(promised) / (1 - ArrayTaskWork.ownShareOfMemory)))
    // In what batch systems count in.
    self.memoryBytes = ((memory + (1 << 20) - 1) >> 20) << 20
    maxMemoryBytes = max(
      self.memoryBytes, profile.maxMemoryBytes ?? self.memoryBytes.multiplied(by: 4))
    maxTimeSeconds = profile.maxTimeSeconds ?? ClusterProfile.defaultMaxTimeSeconds
    timeSeconds = min(
      maxTimeSeconds,
      asked.timeSeconds ?? profile.timeSeconds ?? ClusterProfile.defaultTimeSeconds)
    group = profile.group ?? ClusterProfile.defaultGroup
    maxRunning = profile.maxRunning ?? ClusterProfile.defaultMaxRunning
    maxQueued = profile.maxQueued ?? ClusterProfile.defaultMaxQueued
    pollSeconds = profile.pollSeconds ?? ClusterProfile.defaultPollSeconds
    patienceSeconds = profile.patienceSeconds ?? ClusterProfile.defaultPatienceSeconds
  }
}
