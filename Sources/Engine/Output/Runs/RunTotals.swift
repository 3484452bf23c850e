import Captures

/// A run in numbers: captures by what it did with them, and what was done for them.
public struct RunTotals: Sendable, Codable, Hashable {
  /// The sum of all that follow up to `skipped`.
  public var captures = 0
  public var made = 0
  public var upToDate = 0
  /// Nothing that the run named can be made of them.
  public var notPossible = 0
  public var failed = 0
  public var blocked = 0
  public var interrupted = 0
  public var skipped = 0
  /// Captures that need a person, whatever the run did with them.
  public var needsPerson = 0
  /// Folders with files that are no capture of a known family.
  public var unrecognized = 0
  /// Each capture's once, however many stages worked on them.
  public var frames = 0
  /// Bytes of results that lie in the output; removed intermediates are not among them.
  public var bytes: Int64 = 0
  public var cpuSeconds = 0.0
  public var seconds = 0.0

  public init() {}

  public init(_ captures: [CaptureReport], unrecognized: Int, seconds: Double) {
    self.captures = captures.count
    self.unrecognized = unrecognized
    self.seconds = seconds
    for capture in captures {
      switch capture.outcome {
      case .made: made += 1
      case .upToDate: upToDate += 1
      case .notPossible: notPossible += 1
      case .failed: failed += 1
      case .blocked: blocked += 1
      case .interrupted: interrupted += 1
      case .skipped: skipped += 1
      }
      if !capture.reasons.isEmpty { needsPerson += 1 }
      let ran = capture.stages.filter { $0.outcome == .made }
      frames += ran.compactMap(\.frames).max() ?? 0
      bytes += ran.reduce(0) { $0 &+ $1.bytesAdded }
      cpuSeconds += ran.compactMap(\.cpuSeconds).reduce(0, +)
    }
  }
}
