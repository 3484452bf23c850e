/// One kind of recoverable damage in one part of a capture, counted.
public struct CaptureWarning: Hashable, Sendable, Codable {
  public var code: WarningCode
  /// The subject: a stream (`depth`, `color`, `imu`, …), a file, a sensor type.
  public var subject: String
  /// One sentence for people.
  public var message: String
  /// Affected frames, records, steps or files; 1 for a fact about a whole stream.
  public var count: Int
  public private(set) var severity: WarningSeverity

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
