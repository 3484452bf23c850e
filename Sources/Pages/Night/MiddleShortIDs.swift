/// Ids shortened in the middle, so that what differs stays: apps begin names with a word and a date that all
/// captures of a night share.
struct MiddleShortIDs {
  /// Characters that are left in front and at the end; the end is longer where that is needed to tell ids apart.
  static let head = 10
  static let leastTail = 14

  private var tails: [String: Int] = [:]

  /// Cost: proportional to the number of ids and the length of what they have in common.
  init(_ ids: some Sequence<String>) {
    // A short one is shown in full, and no other may look like it.
    var open = Set(ids).filter { $0.count > Self.head + Self.leastTail + 3 && Self.isPlain($0) }
    var tail = Self.leastTail
    while !open.isEmpty {
      var alike: Set<String> = []
      for group in Dictionary(grouping: open, by: { Self.text($0, tail) }).values {
        if group.count == 1 { tails[group[0]] = tail } else { alike.formUnion(group) }
      }
      tail += 4
      // Cutting must save something.
      open = alike.filter { $0.count > Self.head + tail + 3 }
    }
  }

  /// Escaped characters must not be cut apart.
  private static func isPlain(_ id: String) -> Bool {
    id.utf8.allSatisfy { (0x20..<0x7F).contains($0) }
  }

  private static func text(_ id: String, _ tail: Int) -> String {
    "\(id.prefix(head))…\(id.suffix(tail))"
  }

  /// `nil`: the id is shown in full.
  func parts(_ id: String) -> (head: String, middle: String, tail: String)? {
    guard let tail = tails[id] else { return nil }
    return (
      String(id.prefix(Self.head)), String(id.dropFirst(Self.head).dropLast(tail)),
      String(id.suffix(tail))
    )
  }

  /// `session_20…1-20_kitchen`; unknown and short ids are unchanged.
  subscript(id: String) -> String { tails[id].map { Self.text(id, $0) } ?? id }
}
