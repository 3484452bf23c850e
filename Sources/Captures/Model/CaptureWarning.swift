/// One kind of recoverable damage in one place of a capture, counted.
public struct CaptureWarning: Hashable, Sendable, Codable {
  public var code: WarningCode
  /// What it concerns: a stream (`depth`, `color`, `imu`, …), a file, a sensor type.
  public var subject: String
  /// One sentence for a person.
  public var message: String
  /// Affected frames, records, steps or files; 1 for a fact about a whole stream.
  public var count: Int
  public private(set) var severity: WarningSeverity

  /// `extent` is what the count is measured against; without it only codes that are always notes are.
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

  /// Entries that an earlier build wrote have no severity: what is not always a note is a warning.
  public init(from decoder: any Decoder) throws {
    let object = try decoder.container(keyedBy: CodingKeys.self)
    code = try object.decode(WarningCode.self, forKey: .code)
    subject = try object.decode(String.self, forKey: .subject)
    message = try object.decode(String.self, forKey: .message)
    count = try object.decode(Int.self, forKey: .count)
    severity =
      try object.decodeIfPresent(WarningSeverity.self, forKey: .severity)
      ?? WarningSeverity(code, count: count, of: .unknown)
  }
}

extension [CaptureWarning] {
  /// Both lists, entries of the same code and subject from `other` left out: they tell the same.
  /// Notes come after all warnings.
  public func merged(with other: [CaptureWarning]) -> [CaptureWarning] {
    let all =
      self + other.filter { new in !contains { $0.code == new.code && $0.subject == new.subject } }
    return all.withoutNotes + all.filter { $0.severity == .note }
  }

  /// What `--strict`, outcomes, totals and exit codes count.
  public var withoutNotes: [CaptureWarning] { filter { $0.severity != .note } }
}
