/// A stage of a capture, with the reason for what it is not.
public struct StageStatus: Sendable, Codable, Hashable {
  public var stage: String
  public var uses: String
  public var state: StageState
  /// Why the next run would run it.
  var reason: Reason?
  /// Old and new values, the message of the failure, what blocks.
  var details: String?
  /// `true`: the capture's last run asked for it by name and it does not apply; else `nil`.
  var askedByName: Bool?
}
