/// Intentional damage of a capture.
public struct SyntheticFault: Hashable, Sendable {
  /// The name on the command line: `count-minus-1`.
  public let name: String
  /// What the fault does, as a clause.
  public let summary: String
  /// Faults of one subject exclude each other.
  public let subject: String

  init(_ name: String, _ subject: String, _ summary: String) {
    self.name = name
    self.subject = subject
    self.summary = summary
  }
}
