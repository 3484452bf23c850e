import Engine

/// One line in the results file of an array task.
public enum ArrayTaskLine: Sendable, Codable {
  case begin(ArrayTaskBegin)
  case event(RunEvent)
  case capture(CaptureLine)
  case end(ArrayTaskEnd)
}

/// Coded as a map with one key: `{"begin":{…}}`.
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

/// The node and resources of an array task, written when it starts.
public struct ArrayTaskBegin: Hashable, Sendable, Codable {
  var element: Int
  /// The batch system's name of the task, such as `123_45`.
  var job: String
  var host: String
  public var cores: Int
  /// Memory limit for all captures together; `nil` if there is none.
  var memoryBytes: Int64?
}

/// The result of one capture in an array task.
public struct CaptureLine: Sendable, Codable {
  public var name: String
  public var outcome: CaptureOutcome
  /// The largest measured memory use of its stages.
  public var peakMemoryBytes: Int64?
  public var seconds: Double
  /// Artifacts that its stages published. The line counts only once all of them are visible.
  public var artifacts: [ArtifactMark]
}

/// The end of an array task, as it reports it itself.
public struct ArrayTaskEnd: Hashable, Sendable, Codable {
  enum EndKind: String, Hashable, Sendable, Codable {
    /// The task was neither cancelled nor stopped for lack of time. Usually every capture has a line.
    case done
    /// The task stopped because its time limit was near.
    case outOfTime = "out-of-time"
    case cancelled
    /// The task could not start; `message` states the reason.
    case refused
  }

  var way: EndKind
  /// Names of captures without a line.
  public var left: [String] = []
  var message: String?
  /// Whether the task could take a lock that the supervisor held. If so, the file system does not
  /// share locks between machines. `nil` if it was not tested.
  var tookHeldLock: Bool?

  init(_ way: EndKind, left: [String] = [], message: String? = nil) {
    self.way = way
    self.left = left
    self.message = message
  }
}
