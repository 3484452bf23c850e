import Pipeline
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

extension ClusterProfile {
  /// This profile with what `other` says in place of its own, key by key; lists are replaced as a whole
  /// where `other` has one.
  ///
  /// A limit of growth below what is now asked for at first is lifted to it: who asks for more on the
  /// command line means it.
  public func overridden(by other: ClusterProfile) -> ClusterProfile {
    var result = self
    result.executor = other.executor ?? executor
    result.partition = other.partition ?? partition
    result.account = other.account ?? account
    result.qos = other.qos ?? qos
    result.cpus = other.cpus ?? cpus
    result.memoryBytes = other.memoryBytes ?? memoryBytes
    result.maxMemoryBytes = other.maxMemoryBytes ?? maxMemoryBytes
    result.timeSeconds = other.timeSeconds ?? timeSeconds
    result.maxTimeSeconds = other.maxTimeSeconds ?? maxTimeSeconds
    result.group = other.group ?? group
    result.maxRunning = other.maxRunning ?? maxRunning
    result.maxQueued = other.maxQueued ?? maxQueued
    result.pollSeconds = other.pollSeconds ?? pollSeconds
    result.patienceSeconds = other.patienceSeconds ?? patienceSeconds
    result.scratch = other.scratch ?? scratch
    result.program = other.program ?? program
    if !other.setup.isEmpty { result.setup = other.setup }
    if !other.extra.isEmpty { result.extra = other.extra }
    if let asked = result.memoryBytes, let most = result.maxMemoryBytes, most < asked {
      result.maxMemoryBytes = asked
    }
    if let asked = result.timeSeconds, let most = result.maxTimeSeconds, most < asked {
      result.maxTimeSeconds = asked
    }
    return result
  }
}

extension GroupLimit {
  /// More in one element would be a mistake of writing.
  static let mostCaptures = 1_000_000

  /// `20` captures, or work for `10m`; `nil` for what is neither, for 0, and above a million captures.
  public init?(_ text: String) {
    if let count = Int(text) {
      guard (1...Self.mostCaptures).contains(count) else { return nil }
      self = .captures(count)
    } else {
      guard let nanoseconds = DurationText.nanoseconds(text), nanoseconds >= 1_000_000_000 else {
        return nil
      }
      self = .seconds(Double(nanoseconds) / 1e9)
    }
  }
}
