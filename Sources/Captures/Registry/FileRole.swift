/// What a file of a capture is for, known by its name.
public struct FileRole: Hashable, Sendable {
  /// The parts that are read from it.
  public var parts: Set<CapturePart>
  /// Whether another file may stand in for it: what is there instead counts then.
  public var isAlternative: Bool

  public init(_ parts: Set<CapturePart>, isAlternative: Bool = false) {
    self.parts = parts
    self.isAlternative = isAlternative
  }
}
