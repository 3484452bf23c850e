/// The verdict on a capture: what the record of the stage that judged it holds, and what `capture.json`, status,
/// report and pages show.
///
/// The record is the one place where it is stored; everything that shows it has read it from there, or from
/// `capture.json`, which repeats it.
public struct CaptureQuality: Hashable, Sendable, Codable {
  /// The kind of the stage that judges.
  public static let stageKind = "measure-quality"
  /// The usual name of the stage. The first of several such stages in a pipeline counts unless one has this name.
  public static let usualStage = "quality"

  public enum Level: String, Hashable, Sendable, Codable, CaseIterable {
    case good, usable, poor
    /// What was judged is good, but something that was recorded could not be judged.
    case unjudged

    /// Poor ones come first.
    public var rank: Int {
      switch self {
      case .poor: 0
      case .usable: 1
      case .unjudged: 2
      case .good: 3
      }
    }
  }

  /// One number that was compared with its limits.
  public struct Judged: Hashable, Sendable, Codable {
    /// The value in the unit of the subject; `nil` if it could not be judged.
    public var value: Double?
    public var level: Level

    public init(value: Double?, level: Level) {
      self.value = value
      self.level = level
    }
  }

  /// How many of the recorded pictures were judged.
  public struct Pictures: Hashable, Sendable, Codable {
    public var judged: Int
    public var of: Int

    public init(judged: Int, of: Int) {
      self.judged = judged
      self.of = of
    }
  }

  /// The verdict of the worst subject.
  public var verdict: Level
  /// `nil`: no color was judged.
  public var pictures: Pictures?
  /// In words what led to it, and what could not be judged; empty if it is good.
  public var reasons: [String]
  /// The judgments by subject; what could not be measured is absent.
  public var judged: [String: Judged]

  public init(
    verdict: Level, pictures: Pictures? = nil, reasons: [String], judged: [String: Judged]
  ) {
    self.verdict = verdict
    self.pictures = pictures
    self.reasons = reasons
    self.judged = judged
  }

  /// `good, 24 of 24`: with how many of the recorded pictures were judged.
  public var text: String {
    verdict.rawValue + (pictures.map { ", \($0.judged) of \($0.of)" } ?? "")
  }

  /// Keys in records. They are those of the JSON object as well.
  public enum Key: String {
    case verdict, reasons, judged, value, level, pictures, of
  }
}
