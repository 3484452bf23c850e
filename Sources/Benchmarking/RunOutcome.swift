import FoundationEssentials

/// The part of `run --json` that benchmarks read.
public struct RunOutcome: Hashable, Sendable, Decodable {
  public struct Stage: Hashable, Sendable, Decodable {
    public var stage: String
    public var outcome: String
    var message: String?
    public var seconds: Double?
    public var cpuSeconds: Double?
    public var frames: Int?
    var outputBytes: Int64?
    public var peakMemoryBytes: Int64?
  }

  public struct Capture: Hashable, Sendable, Decodable {
    public var id: String
    public var outcome: String
    var message: String?
    public var stages: [Stage]
  }

  public var exit: Int
  public var captures: [Capture]

  init(json: [UInt8]) throws {
    self = try JSONDecoder().decode(RunOutcome.self, from: Data(json))
  }

  /// The first problem of the run; its figures are then meaningless.
  var problem: String? {
    for capture in captures {
      for stage in capture.stages where stage.outcome == "failed" || stage.outcome == "blocked" {
        return
          "\(capture.id), stage \(stage.stage) \(stage.outcome): \(stage.message ?? "no reason given")"
      }
      if capture.outcome != "done" {
        return "\(capture.id) \(capture.outcome): \(capture.message ?? "no reason given")"
      }
    }
    return exit == 0 ? nil : "the run ended with code \(exit)"
  }
}
