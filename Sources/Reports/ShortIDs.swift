/// Ids as text shows them once they have been named in full: the shortest prefix that no other id has, of
/// at least 12 characters, with `…` behind what was cut. JSON, CSV and the lines of standard output never
/// use them.
public struct ShortIDs: Sendable {
  public static let leastCharacters = 12
  private var texts: [String: String] = [:]

  /// Cost: proportional to the ids and to how far they are alike.
  public init(_ ids: some Sequence<String>) {
    let all = Set(ids)
    var open = Array(all)
    var length = Self.leastCharacters
    while !open.isEmpty {
      var rest: [String] = []
      for (prefix, alike) in Dictionary(grouping: open, by: { $0.prefix(length) }) {
        for id in alike {
          // A cut that saves nothing is none.
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

  /// The short form; an id that is not among those given stays whole.
  public subscript(id: String) -> String { texts[id] ?? id }
}

/// Names captures in a text: each in full the first time, short from then on.
struct CaptureNames {
  private let short: ShortIDs
  private var named: Set<String> = []

  init(_ ids: some Sequence<String>) { short = ShortIDs(ids) }

  mutating func name(_ id: String) -> String {
    named.insert(id).inserted ? id : short[id]
  }

  /// For a line that does not stay.
  func passingName(_ id: String) -> String { short[id] }
}
