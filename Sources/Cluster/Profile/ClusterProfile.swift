import Storage
import SystemPackage

/// How a site is used: the values of a profile file, every one optional. What the command line says goes
/// before it, key by key.
public struct ClusterProfile: Hashable, Sendable, Codable {
  public enum Executor: String, Hashable, Sendable, Codable, CaseIterable {
    case local, slurm
  }

  /// Where the files of kept-for-a-moment stages lie.
  public enum Scratch: String, Hashable, Sendable, Codable, CaseIterable {
    /// In the output, as everywhere.
    case none
    /// Those of stages with `keep: false` on the node's own disk.
    case intermediates
  }

  public var executor: Executor?
  public var partition: String?
  public var account: String?
  public var qos: String?
  /// Per element.
  public var cpus: Int?
  /// Of the first attempt.
  public var memoryBytes: Int64?
  /// Growth after a lack of memory ends here.
  public var maxMemoryBytes: Int64?
  /// Per capture.
  public var timeSeconds: Int?
  /// An element never asks for more.
  public var maxTimeSeconds: Int?
  public var group: GroupLimit?
  public var maxRunning: Int?
  public var maxQueued: Int?
  public var pollSeconds: Double?
  public var patienceSeconds: Double?
  public var scratch: Scratch?
  @CodedOptionalPath public var program: FilePath? = nil
  public var setup: [String] = []
  public var extra: [String] = []

  public init() {}

  public static let defaultCPUs = 4
  public static let defaultTimeSeconds = 1800
  public static let defaultMaxTimeSeconds = 12 * 3600
  public static let defaultGroup = GroupLimit.seconds(600)
  public static let defaultMaxRunning = 64
  public static let defaultMaxQueued = 1000
  public static let defaultPollSeconds = 15.0
  /// The interval grows by half up to this while nothing changes.
  public static let longestPollSeconds = 60.0
  public static let defaultPatienceSeconds = 900.0
}

/// How much an element should hold.
public enum GroupLimit: Hashable, Sendable, Codable {
  case captures(Int)
  case seconds(Double)

}
