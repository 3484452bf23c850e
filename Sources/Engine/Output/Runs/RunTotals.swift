import Captures

/// A run in numbers: captures by how they ended, and what was done for them. Words and sums are those of
/// the report of the night.
public struct RunTotals: Sendable, Codable, Hashable {
  /// The sum of all that follow up to `interrupted`.
  public var captures = 0
  var done = 0
  /// With counted warnings, or processed although files were missing.
  var doneWithWarnings = 0
  /// At least one stage failed or was blocked.
  public var failed = 0
  var quarantined = 0
  /// Left to become complete; a run processes what it is given.
  var incomplete = 0
  var skipped = 0
  var interrupted = 0
  /// Folders with files that are no capture of a known family.
  public var unrecognized = 0
  /// Each capture's once, however many stages worked on them.
  public var frames = 0
  /// Bytes of results that lie in the output; removed intermediates are not among them.
  public var bytesWritten: Int64 = 0
  public var cpuSeconds = 0.0
  public var wallSeconds = 0.0

  public init() {}

  public init(_ captures: [CaptureReport], unrecognized: Int, wallSeconds: Double) {
    self.captures = captures.count
    self.unrecognized = unrecognized
    self.wallSeconds = wallSeconds
    for capture in captures {
      switch capture.outcome {
      case .done where !capture.warningCount.isNone || !capture.missing.isEmpty:
        doneWithWarnings += 1
      case .done: done += 1
      case .failed, .blocked: failed += 1
      case .skipped: skipped += 1
      case .interrupted: interrupted += 1
      }
      let ran = capture.stages.filter { $0.outcome == .ran }
      frames += ran.compactMap(\.frames).max() ?? 0
      bytesWritten += ran.reduce(0) { $0 &+ $1.bytesWritten }
      cpuSeconds += ran.compactMap(\.cpuSeconds).reduce(0, +)
    }
  }
}
