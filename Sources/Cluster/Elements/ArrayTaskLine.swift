import Output
import Pipeline
import Runner

/// One line of an element's results.
public enum ArrayTaskLine: Sendable, Codable {
  case begin(ArrayTaskBegin)
  case event(RunEvent)
  case capture(CaptureLine)
  case end(ArrayTaskEnd)
}

/// As a map with one key: `{"begin":{…}}`.
extension ArrayTaskLine {
  private enum Key: String, CodingKey {
    case begin, event, capture, end
  }

  public init(from decoder: any Decoder) throws {
    let map = try decoder.container(keyedBy: Key.self)
    switch map.allKeys.first {
    case .begin: self = .begin(try map.decode(ArrayTaskBegin.self, forKey: .begin))
    case .event: self = .event(try map.decode(RunEvent.self, forKey: .event))
    case .capture: self = .capture(try map.decode(CaptureLine.self, forKey: .capture))
    case .end: self = .end(try map.decode(ArrayTaskEnd.self, forKey: .end))
    case nil:
      throw DecodingError.dataCorrupted(
        DecodingError.Context(codingPath: decoder.codingPath, debugDescription: "no known key"))
    }
  }

  public func encode(to encoder: any Encoder) throws {
    var map = encoder.container(keyedBy: Key.self)
    switch self {
    case .begin(let begin): try map.encode(begin, forKey: .begin)
    case .event(let event): try map.encode(event, forKey: .event)
    case .capture(let line): try map.encode(line, forKey: .capture)
    case .end(let end): try map.encode(end, forKey: .end)
    }
  }
}

/// Where an element works, and with what.
public struct ArrayTaskBegin: Hashable, Sendable, Codable {
  public var element: Int
  /// In the words of the batch system, `123_45`.
  public var job: String
  public var host: String
  public var cores: Int
  /// What its captures may use together; `nil`: what there is.
  public var memoryBytes: Int64?

  public init(element: Int, job: String, host: String, cores: Int, memoryBytes: Int64?) {
    self.element = element
    self.job = job
    self.host = host
    self.cores = cores
    self.memoryBytes = memoryBytes
  }
}

/// How a capture ended in an element.
public struct CaptureLine: Sendable, Codable {
  public var name: String
  public var outcome: CaptureOutcome
  /// The most memory that its stages are known to have used.
  public var peakMemoryBytes: Int64?
  public var seconds: Double
  /// What its stages published: must be seen before the line is believed.
  public var artifacts: [ArtifactMark]

  public init(
    name: String, outcome: CaptureOutcome, peakMemoryBytes: Int64?, seconds: Double,
    artifacts: [ArtifactMark]
  ) {
    self.artifacts = artifacts
    self.name = name
    self.outcome = outcome
    self.peakMemoryBytes = peakMemoryBytes
    self.seconds = seconds
  }
}

/// How an element ended, in its own words.
public struct ArrayTaskEnd: Hashable, Sendable, Codable {
  public enum EndKind: String, Hashable, Sendable, Codable {
    /// Every capture has a line.
    case done
    /// The time was nearly up.
    case outOfTime = "out-of-time"
    case cancelled
    /// It could not begin: `message` says why.
    case refused
  }

  public var way: EndKind
  /// Captures without a line.
  public var left: [String] = []
  public var message: String?
  /// Whether a lock that the supervisor held could be taken: locks are kept to one machine there.
  public var tookHeldLock: Bool?

  public init(_ way: EndKind, left: [String] = [], message: String? = nil) {
    self.way = way
    self.left = left
    self.message = message
  }
}
