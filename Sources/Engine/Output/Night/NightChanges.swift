/// What is different from the night before.
public struct NightChanges: Hashable, Sendable, Codable {
  /// The local day on which the night before began.
  public var date: String
  /// Captures that were first worked on in this night, and in the one before.
  public var received: Int
  public var receivedBefore: Int
  /// Ids of captures that had failed then and are ready now.
  public var repaired: [String] = []
  /// Captures that need a person now and did not then.
  public var newlyNeeding: [String] = []
  /// Captures that needed a person then and still do.
  public var stillNeeding: [String] = []
}
