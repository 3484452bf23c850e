import Synchronization

/// The stable codes of recoverable damage; people script against the raw values.
public enum WarningCode: String, Codable, CaseIterable, Sendable {
  case frameCountMismatch = "frame-count-mismatch"
  case colorShorterThanDepth = "color-shorter-than-depth"
  case depthShorterThanColor = "depth-shorter-than-color"
  case truncatedStream = "truncated-stream"
  case trailingData = "trailing-data"
  case emptyRecord = "empty-record"
  case corruptRecord = "corrupt-record"
  case mixedEncodings = "mixed-encodings"
  case timestampsMissing = "timestamps-missing"
  case timestampsStale = "timestamps-stale"
  case timestampsUnordered = "timestamps-unordered"
  case timestampsDuplicate = "timestamps-duplicate"
  case clockJump = "clock-jump"
  case frameGap = "frame-gap"
  case imuMissing = "imu-missing"
  case imuPartialRecord = "imu-partial-record"
  case imuOutsideFrames = "imu-outside-frames"
  case imuGap = "imu-gap"
  case nonFiniteValue = "non-finite-value"
  case unknownKey = "unknown-key"
  case missingKey = "missing-key"
  case missingFile = "missing-file"
  case multipleStreams = "multiple-streams"
  case unsupportedStream = "unsupported-stream"
  case rotationIgnored = "rotation-ignored"
  case calibrationMissing = "calibration-missing"
  case poseJump = "pose-jump"
  case untrackedPoses = "untracked-poses"
  case pairingApproximate = "pairing-approximate"
  case geoNoFix = "geo-no-fix"
  case geoUnordered = "geo-unordered"
  case pathOutsideCapture = "path-outside-capture"
  case sizeMismatch = "size-mismatch"
}

/// One kind of recoverable damage in one place of a capture, counted.
public struct CaptureWarning: Hashable, Sendable, Codable {
  public var code: WarningCode
  /// What it concerns: a stream (`depth`, `color`, `imu`, …), a file, a sensor type.
  public var subject: String
  /// One sentence for a person.
  public var message: String
  /// Affected frames, records, steps or files; 1 for a fact about a whole stream.
  public var count: Int

  public init(_ code: WarningCode, _ subject: String, count: Int = 1, _ message: String) {
    self.code = code
    self.subject = subject
    self.message = message
    self.count = count
  }
}

/// Gathers warnings from several threads; entries of the same code and subject add up, the first
/// message stays.
public final class WarningCollector: Sendable {
  private let entries = Mutex<[CaptureWarning]>([])

  public init() {}

  /// Adds a warning. A count of 0 or less adds nothing.
  public func add(
    _ code: WarningCode, _ subject: String, count: Int = 1, _ message: String
  ) {
    add(CaptureWarning(code, subject, count: count, message))
  }

  public func add(_ warning: CaptureWarning) {
    guard warning.count > 0 else { return }
    entries.withLock { entries in
      let same = entries.firstIndex { $0.code == warning.code && $0.subject == warning.subject }
      if let same { entries[same].count += warning.count } else { entries.append(warning) }
    }
  }

  /// All entries so far, in the order of their first appearance.
  public var warnings: [CaptureWarning] { entries.withLock { $0 } }
}

extension [CaptureWarning] {
  /// Both lists, entries of the same code and subject from `other` left out: they tell the same.
  public func merged(with other: [CaptureWarning]) -> [CaptureWarning] {
    self + other.filter { new in !contains { $0.code == new.code && $0.subject == new.subject } }
  }
}
