import Synchronization

/// Sums the outcomes of the records of one frame stream, for stages and inspections. Thread-safe.
public final class OutcomeTally: Sendable {
  private let subject: String
  private let encodings = Mutex<Set<String>>([])
  private let absences = Mutex(0)
  private let collector = WarningCollector()

  /// `subject` is `depth` or `confidence`.
  public init(subject: String) {
    self.subject = subject
  }

  /// Number of records that there never were: no picture and no damage. They are numbers without a
  /// file, which the length of the stream already lacks (`StreamClaims`).
  public var absent: Int { absences.withLock { $0 } }

  public func add(_ outcome: RecordOutcome) {
    if !outcome.hasPicture, outcome.issue == nil { absences.withLock { $0 += 1 } }
    if let issue = outcome.issue { collector.add(issue.code, subject, issue.message) }
    if let encoding = outcome.encoding {
      encodings.withLock { _ = $0.insert(encoding) }
    }
  }

  /// Damage found, one warning per code.
  public var warnings: [CaptureWarning] {
    var warnings = collector.warnings
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
