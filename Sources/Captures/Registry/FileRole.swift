/// The role of a capture's file, by its name.
public struct FileRole: Hashable, Sendable {
  /// The parts that are read from it.
  public var parts: Set<CapturePart>
  /// Whether another file may replace it, which is then used instead.
  var isAlternative: Bool

  public init(_ parts: Set<CapturePart>, isAlternative: Bool = false) {
    self.parts = parts
    self.isAlternative = isAlternative
  }
}
