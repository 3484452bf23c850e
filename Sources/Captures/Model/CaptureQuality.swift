/// The verdict on a capture: what the record of the stage that judged it holds, and what `capture.json`, status,
/// report and pages show.
///
/// The record is the one place where it is stored; everything that shows it has read it from there, or from
/// `capture.json`, which repeats it.
public struct CaptureQuality: Hashable, Sendable, Codable {
  /// The kind of the stage that judges.
  public static let stageKind = "measure-quality"
  /// Its usual name. Of several such stages in a pipeline the one of this name counts, else the first.
  public static let usualStage = "quality"

  public enum Level: String, Hashable, Sendable, Codable, CaseIterable {
    case good, usable, poor

    /// Poor ones come first.
    public var rank: Int {
      switch self {
      case .poor: 0
      case .usable: 1
      case .good: 2
      }
    }
  }

  /// One number that was compared with its limits.
  public struct Judged: Hashable, Sendable, Codable {
    /// In the unit of the subject.
    public var value: Double
    public var level: Level

    public init(value: Double, level: Level) {
      self.value = value
      self.level = level
    }
  }

  /// That of the worst subject.
  public var verdict: Level
  /// In words what led to it; empty if it is good.
  public var reasons: [String]
  /// By subject; what could not be measured is absent.
  public var judged: [String: Judged]

  public init(verdict: Level, reasons: [String], judged: [String: Judged]) {
    self.verdict = verdict
    self.reasons = reasons
    self.judged = judged
  }

  /// Keys in records. They are those of the JSON object as well.
  public enum Key: String {
    case verdict, reasons, judged, value, level
  }
}
