/// How the items of a stream were given to the frames of a capture.
public struct StreamPairing: Hashable, Sendable {
  public enum Way: String, Hashable, Sendable, Codable {
    /// By numbers that the items carry: in names, columns and keys, or as times that count frames.
    case number
    /// By times on one clock, up to a constant that was found.
    case time
    /// By order alone.
    case rank
  }

  public var way: Way
  /// What the items were paired with, in the plural: `rows`, `depth frames`.
  var partners: String
  /// Number of items that have a partner.
  var paired: Int
  var items: Int
  /// Whether no other pairing explains the keys as well. Order proves nothing; it is not doubted where
  /// the counts agree.
  public var isDoubtful: Bool

  init(
    _ way: Way, with partners: String, paired: Int, of items: Int, isDoubtful: Bool = false
  ) {
    self.way = way
    self.partners = partners
    self.paired = paired
    self.items = items
    self.isDoubtful = isDoubtful
  }

  /// Files that are named by their frames' numbers or times.
  static func byName(_ paired: Int, of items: Int) -> StreamPairing {
    StreamPairing(.number, with: "frames", paired: paired, of: items)
  }

  /// Records by their order: record k belongs to partner k.
  static func byRank(_ items: Int, with partners: String, _ count: Int, isDoubtful: Bool)
    -> StreamPairing
  {
    StreamPairing(
      .rank, with: partners, paired: min(items, count), of: items, isDoubtful: isDoubtful)
  }

  /// `by time with the rows, 38 of 40 proved`.
  public var words: String {
    let proof = isDoubtful ? " (not proved)" : way == .time ? " proved" : ""
    return "by \(way.rawValue) with the \(partners), \(paired) of \(items)\(proof)"
  }
}

extension StreamPairing: Encodable {
  private enum Key: CodingKey {
    case by, with, paired, of, doubtful
  }

  public func encode(to encoder: any Encoder) throws {
    var object = encoder.container(keyedBy: Key.self)
    try object.encode(way, forKey: .by)
    try object.encode(partners, forKey: .with)
    try object.encode(paired, forKey: .paired)
    try object.encode(items, forKey: .of)
    try object.encode(isDoubtful, forKey: .doubtful)
  }
}
