/// Which id a user means by the beginning of one.
public enum IDPrefix {
  public enum Match: Hashable, Sendable {
    case one(String)
    case none
    /// Several ids begin so; sorted.
    case several([String])
  }

  /// A whole id wins over longer ones that begin with it. A `…` or `...` at the end, as texts show short
  /// ids, is left out.
  public static func match(_ text: String, among ids: some Sequence<String>) -> Match {
    let ids = Array(ids)
    if ids.contains(text) { return .one(text) }
    var prefix = text[...]
    for mark in ["…", "..."] where prefix.hasSuffix(mark) { prefix = prefix.dropLast(mark.count) }
    guard !prefix.isEmpty else { return .none }
    let found = ids.filter { $0.hasPrefix(prefix) }.sorted()
    switch found.count {
    case 0: return .none
    case 1: return .one(found[0])
    default: return .several(found)
    }
  }
}
