import Engine
import Core
import SystemPackage

/// The settings of a profile file, all optional. Options of the command line take precedence, key
/// by key.
public struct ClusterProfile: Hashable, Sendable, Codable {
  public enum Executor: String, Hashable, Sendable, Codable, CaseIterable {
    case local, slurm
  }

  /// Where files of stages with `keep: false` are.
  public enum Scratch: String, Hashable, Sendable, Codable, CaseIterable {
    /// In the output, like all others.
    case none
    /// On the node's own disk.
    case intermediates
  }

  public var executor: Executor?
  var partition: String?
  var account: String?
  var qos: String?
  /// Per array task.
  var cpus: Int?
  /// Request of the first attempt.
  var memoryBytes: Int64?
  /// Upper limit when the memory is increased for a retry.
  var maxMemoryBytes: Int64?
  /// Per capture.
  var timeSeconds: Int?
  /// Upper limit of the time of an array task.
  var maxTimeSeconds: Int?
  public var group: GroupLimit?
  var maxRunning: Int?
  var maxQueued: Int?
  var pollSeconds: Double?
  var patienceSeconds: Double?
  public var scratch: Scratch?
  @CodedOptionalPath public var program: FilePath? = nil
  var setup: [String] = []
  var extra: [String] = []

  public init() {}

  static let defaultCPUs = 4
  static let defaultTimeSeconds = 1800
  static let defaultMaxTimeSeconds = 12 * 3600
  static let defaultGroup = GroupLimit.seconds(600)
  static let defaultMaxRunning = 64
  static let defaultMaxQueued = 1000
  static let defaultPollSeconds = 15.0
  /// While nothing changes, the polling interval grows by half each time, up to this.
  static let longestPollSeconds = 60.0
  static let defaultPatienceSeconds = 900.0
}

/// The size of an array task.
public enum GroupLimit: Hashable, Sendable, Codable {
  case captures(Int)
  case seconds(Double)

  /// Larger numbers are typing errors.
  static let mostCaptures = 1_000_000

  /// Parses a number of captures (`20`) or a duration (`10m`). `nil` for other texts, numbers below
  /// 1 or above `mostCaptures`, and durations below 1 s.
  public init?(_ text: String) {
    if let count = Int(text) {
      guard (1...Self.mostCaptures).contains(count) else { return nil }
      self = .captures(count)
    } else {
      guard let nanoseconds = DurationSyntax.nanoseconds(text), nanoseconds >= 1_000_000_000 else {
        return nil
      }
      self = .seconds(Double(nanoseconds) / 1e9)
    }
  }
}
