/// How a stage of a capture stands.
public enum StageState: String, Codable, Sendable, CaseIterable {
  /// Published and up to date.
  case done
  /// Published, and the next run would make it anew.
  case stale
  /// The last attempt failed.
  case failed
  /// Something it needs failed.
  case blocked
  /// The stage is not built yet.
  case missing
  case notApplicable = "not-applicable"
  /// The stage was not asked for (`AskedStages`): it counts nowhere.
  case notRequested = "not-requested"

  /// Whether something that was asked for is not there as it should be.
  var isLack: Bool {
    switch self {
    case .stale, .failed, .blocked, .missing: true
    case .done, .notApplicable, .notRequested: false
    }
  }
}
