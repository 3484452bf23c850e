/// Checks for shell patterns that cannot match.
enum GlobCheck {
  /// Why the pattern cannot match; `nil` if it can. The C library silently treats an unclosed
  /// bracket as a literal character.
  static func problem(of pattern: String) -> String? {
    var rest = pattern[...]
    while let open = rest.firstIndex(where: { $0 == "[" || $0 == "\\" }) {
      let after = rest.index(after: open)
      if rest[open] == "\\" {
        rest = after < rest.endIndex ? rest[rest.index(after: after)...] : ""
        continue
      }
      var inside = rest[after...]
      if let first = inside.first, first == "!" || first == "^" { inside = inside.dropFirst() }
      // The first character of a set may be a closing bracket.
      guard let close = inside.dropFirst().firstIndex(of: "]") else {
        return "'[' without ']'; write one such as '[0-9]*', or '\\[' for the character itself"
      }
      rest = rest[rest.index(after: close)...]
    }
    return nil
  }
}
