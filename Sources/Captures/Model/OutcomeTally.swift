import Synchronization

/// Sums the outcomes of the records of one frame stream, for stages and inspections. Thread-safe.
public final class OutcomeTally: Sendable {
  private let subject: String
  private let encodings = Mutex<Set<String>>([])
  private let counts = Mutex((pictures: 0, absent: 0))
  private let depths = Mutex(DepthCounts())
  private let collector = WarningCollector()

  /// `subject` is `depth` or `confidence`.
  public init(subject: String) {
    self.subject = subject
  }

  /// What is lost of a stream of so many records: those without a picture. Records that there never were, without
  /// picture and damage, count nowhere: they are numbers without a file, which the length of the stream already lacks
  /// (`StreamClaim`).
  public func holes(of records: Int) -> FrameHoles {
    let (pictures, absent) = counts.withLock { $0 }
    return FrameHoles(lost: records - absent - pictures, frames: records - absent)
  }

  /// - Parameter pixels: the decoded picture, if `outcome` has one. Of depth some values are looked at,
  ///   as they are after filters: a median that no sensor measures is told (`PlausibleValues`).
  public func add<Pixel: BitwiseCopyable>(_ outcome: RecordOutcome, _ pixels: [Pixel]) {
    add(outcome)
    guard outcome.hasPicture, subject == "depth", Pixel.self == UInt16.self else { return }
    let found = DepthCounts(pixels.span.bytes, tooFar: outcome.tooFar)
    if found.measured > 0 { depths.withLock { $0.add(found) } }
  }

  public func add(_ outcome: RecordOutcome) {
    counts.withLock { counts in
      // A filter that lacks confidence leaves out a depth picture that is there.
      if outcome.hasPicture || outcome.issue?.code == .confidenceMissing { counts.pictures += 1 }
      if !outcome.hasPicture, outcome.issue == nil { counts.absent += 1 }
    }
    collector.add(damageOf: outcome, subject)
    if let encoding = outcome.encoding {
      encodings.withLock { _ = $0.insert(encoding) }
    }
  }

  /// Damage found, one warning per code.
  public var warnings: [CaptureWarning] {
    var warnings = collector.warnings
    if let odd = depths.withLock({ $0.warning }) { warnings.append(odd) }
    let kinds = encodings.withLock { $0.sorted() }
    if kinds.count > 1 {
      warnings.append(
        CaptureWarning(
          .mixedEncodings, subject, "records of several kinds: " + kinds.joined(separator: ", ")))
    }
    return warnings
  }

  /// The payload kind, `mixed` if there are several, `nil` if the records do not state one.
  public var encoding: String? {
    let kinds = encodings.withLock { $0 }
    return kinds.count > 1 ? "mixed" : kinds.first
  }
}

extension WarningCollector {
  /// Adds what is damaged or odd in a record, if anything is.
  public func add(damageOf outcome: RecordOutcome, _ subject: String) {
    if let issue = outcome.issue { add(issue.code, subject, issue.message) }
  }
}

/// How many depth values lie where: what the median needs, in constant memory.
private struct DepthCounts {
  /// One value of so many is counted. A prime, so that no column is preferred.
  private static let step = 17

  private(set) var measured = 0
  private var near = 0
  private var far = 0
  /// Frames whose own median is too near or too far.
  private var oddFrames = 0

  init() {}

  /// Counts the values of a picture, 16 bits each; 0 is none.
  init(_ values: RawSpan, tooFar: Int) {
    let limit = UInt16(PlausibleValues.depthMillimeters.lowerBound)
    for offset in stride(from: 0, to: values.byteCount - 1, by: 2 * Self.step) {
      let value = values.unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt16.self)
      if value > 0 { measured += 1 }
      if value > 0, value < limit { near += 1 }
    }
    far = tooFar / Self.step
    measured += far
    oddFrames = isOdd ? 1 : 0
  }

  private var isOdd: Bool { 2 * near > measured || 2 * far > measured }

  mutating func add(_ other: DepthCounts) {
    measured += other.measured
    near += other.near
    far += other.far
    oddFrames += other.oddFrames
  }

  var warning: CaptureWarning? {
    guard isOdd, measured > 0 else { return nil }
    let limits = PlausibleValues.depthMillimeters
    return CaptureWarning(
      .implausibleUnit, "depth", count: oddFrames,
      2 * near > measured
        ? "half of all depth is nearer than \(limits.lowerBound / 10) cm, which no sensor measures: the values may be "
          + "meters or centimeters"
        : "half of all depth is farther than \(limits.upperBound / 1000) m, which no sensor measures: the values may "
          + "be millimeters; what does not fit into 16 bits of millimeters is 0")
  }
}
