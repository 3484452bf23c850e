import Core

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
