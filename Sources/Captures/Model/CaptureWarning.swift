import Core
import Synchronization

/// One kind of recoverable damage in one part of a capture, counted.
public struct CaptureWarning: Hashable, Sendable, Codable {
  public var code: WarningCode
  /// The subject: a stream (`depth`, `color`, `imu`, …), a file, a sensor type.
  public var subject: String
  /// One sentence for people.
  public var message: String
  /// Affected frames, records, steps or files; 1 for a fact about a whole stream.
  public var count: Int
  public package(set) var severity: WarningSeverity

  /// `extent` is the total to which the count relates. Without it, only codes that are always notes
  /// become notes.
  public init(
    _ code: WarningCode, _ subject: String, count: Int = 1, of extent: WarningExtent = .unknown,
    _ message: String
  ) {
    self.code = code
    self.subject = subject
    self.message = message
    self.count = count
    severity = WarningSeverity(code, count: count, of: extent)
  }

  /// A warning that was decided on before.
  package init(
    _ code: WarningCode, _ subject: String, count: Int, severity: WarningSeverity, _ message: String
  ) {
    self.code = code
    self.subject = subject
    self.message = message
    self.count = count
    self.severity = severity
  }
}

extension [CaptureWarning] {
  /// The warnings of both lists without the entries of `other` that have the code and subject of an entry here, which
  /// report the same. Notes follow all warnings.
  public func merged(with other: [CaptureWarning]) -> [CaptureWarning] {
    let all =
      self + other.filter { new in !contains { $0.code == new.code && $0.subject == new.subject } }
    return all.withoutNotes + all.filter { $0.severity == .note }
  }

  /// The warnings that `--strict`, outcomes, totals and exit codes count.
  public var withoutNotes: [CaptureWarning] { filter { $0.severity != .note } }
}

/// The stable codes of recoverable damage. Scripts depend on the raw values.
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
  case timestampsTruncated = "timestamps-truncated"
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
  case confidenceMissing = "confidence-missing"
  case calibrationSuspect = "calibration-suspect"
  case nothingLeft = "nothing-left"
  case hdrVideo = "hdr-video"
  case timeOffset = "time-offset"
  case shortfall
  case intrinsicsVary = "intrinsics-vary"
  case mixedOrientations = "mixed-orientations"
  case notDownloaded = "not-downloaded"
  case implausibleUnit = "implausible-unit"
  case masksMissing = "masks-missing"
  case unlistedFile = "unlisted-file"
}

/// Collects warnings from several threads. Counts of entries with the same code and subject are
/// added; the first message is kept.
public final class WarningCollector: Sendable {
  private struct Entry {
    var warning: CaptureWarning
    var extent: WarningExtent
  }

  private let entries = Mutex<[Entry]>([])

  public init() {}

  /// Adds a warning; a count of 0 or less adds nothing. `extent` is the total to which the count
  /// relates: required for codes whose small counts are notes (``WarningSeverity``).
  public func add(
    _ code: WarningCode, _ subject: String, count: Int = 1, of extent: WarningExtent = .unknown,
    _ message: String
  ) {
    put(CaptureWarning(code, subject, count: count, of: extent, message), extent)
  }

  /// Adds a warning whose severity is already set.
  public func add(_ warning: CaptureWarning) {
    put(warning, .unknown)
  }

  private func put(_ warning: CaptureWarning, _ extent: WarningExtent) {
    guard warning.count > 0 else { return }
    entries.withLock { entries in
      let same = entries.firstIndex {
        $0.warning.code == warning.code && $0.warning.subject == warning.subject
      }
      guard let same else { return entries.append(Entry(warning: warning, extent: extent)) }
      // The severity is determined again, because the sum may be too large for a note.
      let (sum, overflow) = entries[same].warning.count.addingReportingOverflow(warning.count)
      entries[same].extent = entries[same].extent.joined(with: extent)
      entries[same].warning = CaptureWarning(
        warning.code, warning.subject, count: overflow ? .max : sum, of: entries[same].extent,
        entries[same].warning.message)
    }
  }

  /// All entries so far, in the order of their first occurrence.
  public var warnings: [CaptureWarning] { entries.withLock { $0.map(\.warning) } }
}

/// What several families say in the same words. A count of 0 or less says nothing.
extension WarningCollector {
  /// A table that ends inside a line.
  func addCut(_ subject: String, _ isCut: Bool) {
    add(
      .truncatedStream, subject, count: isCut ? 1 : 0,
      "the file ends inside a line; its last cell is unknown")
  }

  func addUnknown(columns: [String], _ subject: String) {
    add(
      .unknownKey, subject, count: columns.count,
      "unknown columns: \(columns.prefix(8).joined(separator: ", "))")
  }

  func addLinksOutside(_ subject: String, _ count: Int, of noun: String) {
    add(
      .pathOutsideCapture, subject, count: count,
      "\(noun) that are links out of the capture's folder; not followed")
  }

  /// `times[i]` belongs to `rows[i]`.
  func addPoseJumps(
    _ rows: [PoseStream.Row], _ times: [Timestamp?],
    _ count: ([PoseStream.Row], [Timestamp?]) -> Int = PoseBreak.countTimedJumps
  ) {
    add(
      .poseJump, "poses", count: count(rows, times),
      "steps faster than 10 m/s: tracking was lost and found elsewhere")
  }

  func addOrder(of steps: TimeSteps, times: Int) {
    add(
      .timestampsDuplicate, "frames", count: steps.repeated, "neighboring frames with equal times")
    add(
      .timestampsUnordered, "frames", count: steps.backward, of: .size(times),
      "times of frames that go back; frames stay in the order of their numbers")
  }

  /// - Parameter cause: what made them, if the family tells.
  func addGaps(
    _ steps: TimeSteps, of frames: Int, _ family: FamilyDescription, _ subject: String = "frames",
    cause: String? = "the device dropped camera frames, for all streams at once"
  ) {
    let factor = family.frameGapFactor
    add(
      .frameGap, subject, count: steps.gaps(above: factor), of: .size(frames),
      "steps above \(factor) times the median" + (cause.map { ": " + $0 } ?? ""))
  }

  func addDifference(color: Int, _ pictures: String, depth: Int, _ frames: String) {
    add(
      .colorShorterThanDepth, "color", count: depth - color,
      "\(color) \(pictures), \(depth) \(frames)")
    add(
      .depthShorterThanColor, "depth", count: color - depth,
      "\(depth) \(frames), \(color) \(pictures)")
  }
}

/// The number of warnings, in the two units that are used everywhere: kinds (distinct codes,
/// whatever the number of subjects) and occurrences (the sum of the counts). Notes do not count.
public struct WarningCount: Hashable, Sendable {
  private var codes: Set<WarningCode> = []
  /// Affected frames, records, steps or files; a warning about a whole stream counts as one.
  public private(set) var occurrences = 0

  public init(_ warnings: [CaptureWarning]) { add(warnings) }

  public mutating func add(_ warnings: [CaptureWarning]) {
    for warning in warnings where warning.severity != .note {
      codes.insert(warning.code)
      occurrences = occurrences.addingReportingOverflow(max(0, warning.count)).partialValue
    }
  }

  public var kinds: Int { codes.count }
  public var isNone: Bool { codes.isEmpty }

  /// `1 kind, 3 occurrences`.
  public var words: String {
    Plural.text(kinds, "kind") + ", " + Plural.text(occurrences, "occurrence")
  }

  /// `1 kind of warning, 3 occurrences`.
  public var sentence: String {
    Plural.text(kinds, "kind of warning", "kinds of warnings") + ", "
      + Plural.text(occurrences, "occurrence")
  }
}

extension [CaptureWarning] {
  public var counted: WarningCount { WarningCount(self) }
}

/// Whether a finding is a warning or a note. This type alone decides.
///
/// Phones drop single frames, start the IMU late and deliver samples out of order. What ordinary
/// recordings show, and what is handled without loss, is a note; everything else is a warning.
public enum WarningSeverity: String, Codable, Sendable {
  case note
  case warning

  /// The rule of the contract (section 4). Notes are: `frame-gap` up to 1 % of the frames,
  /// `timestamps-unordered` up to 0.1 % of the samples or pictures, `imu-outside-frames` up to one
  /// second of frames at each end, `unknown-key` and `mixed-orientations`. A count of unknown extent is a warning.
  init(_ code: WarningCode, count: Int, of extent: WarningExtent) {
    let isNote =
      switch (code, extent) {
      case (.unknownKey, _), (.mixedOrientations, _): true
      case (.frameGap, .size(let frames)): count <= frames / 100
      case (.timestampsUnordered, .size(let samples)): count <= samples / 1000
      case (.imuOutsideFrames, .ends(let outside)): outside.isBrief
      default: false
      }
    self = isNote ? .note : .warning
  }
}

/// The total to which a finding's count relates.
public enum WarningExtent: Hashable, Sendable {
  case unknown
  /// All frames, samples or pictures of the stream concerned.
  case size(Int)
  /// Frames without samples, at each end separately.
  case ends(FramesOutside)

  /// The extent of two findings about one stream.
  func joined(with other: WarningExtent) -> WarningExtent {
    switch (self, other) {
    case (.size(let a), .size(let b)): .size(max(a, b))
    case (.ends(let a), .ends(let b)): .ends(a.joined(with: b))
    // If one of the two was not measured, the extent is unknown.
    default: .unknown
    }
  }
}

/// Frames before the first or after the last sample of a sensor.
public struct FramesOutside: Hashable, Sendable {
  public var before = 0
  var after = 0
  /// Number of frames with a time.
  public let frames: Int
  /// Frames per second by the median step; `nil` if unknown.
  let rateHz: Double?

  public var count: Int { before + after }

  /// Whether at most one second of frames is outside at each end, and some frame is inside.
  var isBrief: Bool { count < frames && isShort }

  /// Whether at most one second of frames is outside at each end.
  var isShort: Bool {
    guard let rateHz else { return false }
    let second = max(1, rateHz.rounded())
    return Double(before) <= second && Double(after) <= second
  }

  func joined(with other: FramesOutside) -> FramesOutside {
    var sum = self
    sum.before += other.before
    sum.after += other.after
    return sum
  }
}
