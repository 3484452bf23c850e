import Geometry

/// Whether a capture is worth working with, and why: the worst of what can be told of its frames.
public struct QualityVerdict: Hashable, Sendable {
  public enum Level: String, Comparable, CaseIterable, Sendable {
    case good, usable, poor

    public static func < (a: Level, b: Level) -> Bool {
      Self.order(a) < Self.order(b)
    }

    private static func order(_ level: Level) -> Int { allCases.firstIndex(of: level) ?? 0 }
  }

  /// What is judged. Raw values are names in records.
  public enum Subject: String, CaseIterable, Sendable {
    /// Share of pictures that are blurred.
    case blurred
    /// Share of pictures too dark or too bright to see much.
    case clipped
    /// Share of pictures that show again what an earlier one shows.
    case duplicates
    /// Share of pixels without depth, in the middle one of all frames.
    case depthMissing
    /// Difference of depth between neighboring frames in permille of it, in the middle one of all frames.
    case depthDisagreement
    /// Degrees between poses and gyroscope from frame to frame, in the middle one of all frames.
    case rotationDisagreement
  }

  /// Above `usable` a capture is only usable, above `poor` poor.
  public struct Limits: Hashable, Sendable {
    public var usable: Double
    public var poor: Double

    public init(usable: Double, poor: Double) {
      self.usable = usable
      self.poor = poor
    }
  }

  public struct Thresholds: Sendable {
    /// A picture is blurred below this part of the sharpness around it…
    public var blurredBelow = 0.5
    /// … or above this `BlurEffect`, whatever is around it…
    public var blurEffect = 0.38
    /// … or when the camera turned by more pixels than this while it was exposed.
    public var blurPixels = 4.0
    /// A picture is clipped when more of it than this is black or white.
    public var clippedAbove = 0.4
    public var limits: [Subject: Limits]

    public init(limits: [Subject: Limits]) { self.limits = limits }
  }

  public struct Finding: Hashable, Sendable {
    public var subject: Subject
    /// In the unit of the subject.
    public var value: Double
    public var level: Level
  }

  public var level: Level
  /// Everything that was judged, in the order of `Subject`.
  public var findings: [Finding]

  /// What brought the capture to its level; empty if it is good.
  public var reasons: [Finding] { level == .good ? [] : findings.filter { $0.level == level } }

  /// `nil` if nothing of any frame can be judged.
  public init?(of frames: [FrameQuality], _ thresholds: Thresholds) {
    let pictures = frames.filter { $0.picture != nil }
    func share(_ isMeant: (FrameQuality) -> Bool) -> Double? {
      pictures.isEmpty ? nil : Double(pictures.count(where: isMeant)) / Double(pictures.count)
    }
    func middle(_ value: (FrameQuality) -> Double?) -> Double? {
      Median.upper(frames.compactMap(value))
    }
    let values: [Subject: Double?] = [
      .blurred: share {
        $0.relativeSharpness ?? 1 < thresholds.blurredBelow
          || $0.picture?.blur ?? 0 > thresholds.blurEffect
          || $0.blurPixels ?? 0 > thresholds.blurPixels
      },
      .clipped: share {
        ($0.picture?.darkShare ?? 0) + ($0.picture?.brightShare ?? 0) > thresholds.clippedAbove
      },
      .duplicates: share { $0.duplicateOf != nil },
      .depthMissing: middle { $0.depthShare.map { 1 - $0 } },
      .depthDisagreement: middle { $0.agreement?.medianPermille },
      .rotationDisagreement: middle(\.rotationDifferenceDegrees),
    ]
    findings = Subject.allCases.compactMap { subject in
      guard let value = values[subject] ?? nil, let limits = thresholds.limits[subject] else {
        return nil
      }
      let level: Level = value > limits.poor ? .poor : value > limits.usable ? .usable : .good
      return Finding(subject: subject, value: value, level: level)
    }
    guard let worst = findings.map(\.level).max() else { return nil }
    level = worst
  }
}
