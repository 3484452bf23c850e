/// Patterns of the shell that can match nothing.
enum GlobCheck {
  /// Why it can match nothing; `nil`: it can. The C library takes an open bracket for the character itself,
  /// quietly.
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
      // The first character of a set may be the bracket itself.
      guard let close = inside.dropFirst().firstIndex(of: "]") else {
        return "'[' without ']'; write one such as '[0-9]*', or '\\[' for the character itself"
      }
      rest = rest[rest.index(after: close)...]
    }
    return nil
  }
}
