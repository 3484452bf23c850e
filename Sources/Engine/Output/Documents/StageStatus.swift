/// A stage of a capture, with the reason for what it is not.
public struct StageStatus: Sendable, Codable, Hashable {
  public var stage: String
  public var uses: String
  public var state: StageState
  /// Why the next run would run it.
  public var reason: Reason?
  /// Old and new values, the message of the failure, what blocks.
  public var details: String?
  /// `true`: the capture's last run asked for it by name and it does not apply; else `nil`.
  var askedByName: Bool?
  /// Whether it is a step inside of a stage (`partOf`), which views do not tell of.
  var isInner = false
  /// Whether views tell of it: a step inside of a stage only where it has failed.
  var isShown: Bool { !isInner || state == .failed || state == .obstructed }

  private enum CodingKeys: CodingKey { case stage, uses, state, reason, details, askedByName }
}

/// How a stage of a capture stands.
public enum StageState: String, Codable, Sendable, CaseIterable {
  /// Published and up to date.
  case done
  /// Published, and the next run would make it anew.
  case stale
  /// The last attempt failed.
  case failed
  /// A folder without a record that can be believed, or something else that is not ours, is in the place of its results:
  /// it cannot be made until that is moved away.
  case obstructed
  /// Something it needs failed.
  case blocked
  /// The stage is not built yet.
  case missing
  case notApplicable = "not-applicable"
  /// The stage was not asked for (`ExaminedCapture.asked`): it counts nowhere.
  case notRequested = "not-requested"

  /// Whether something that was asked for is not there as it should be.
  var isLack: Bool {
    switch self {
    case .stale, .failed, .obstructed, .blocked, .missing: true
    case .done, .notApplicable, .notRequested: false
    }
  }
}
