/// Shortened ids for texts in which they were named in full before: the shortest unique prefix of
/// at least 12 characters, with `…` if cut. Never used in JSON, CSV and the lines of standard
/// output.
struct ShortIDs {
  static let leastCharacters = 12
  private var texts: [String: String] = [:]

  /// Cost: proportional to the number of ids and the length of their common prefixes.
  init(_ ids: some Sequence<String>) {
    let all = Set(ids)
    var open = Array(all)
    var length = Self.leastCharacters
    while !open.isEmpty {
      var rest: [String] = []
      for (prefix, alike) in Dictionary(grouping: open, by: { $0.prefix(length) }) {
        for id in alike {
          // Cutting must save something.
          if id.count <= length + 1 {
            texts[id] = id
          } else if alike.count == 1, !all.contains(String(prefix)) {
            texts[id] = prefix + "…"
          } else {
            rest.append(id)
          }
        }
      }
      open = rest
      length += 1
    }
  }

  /// The short form; unknown ids are unchanged.
  subscript(id: String) -> String { texts[id] ?? id }
}

/// Names captures in a text: in full the first time, short afterward.
struct CaptureNames {
  private let short: ShortIDs
  private var named: Set<String> = []

  init(_ ids: some Sequence<String>) { short = ShortIDs(ids) }

  mutating func name(_ id: String) -> String {
    named.insert(id).inserted ? id : short[id]
  }

  /// For a line that is redrawn.
  func passingName(_ id: String) -> String { short[id] }
}
