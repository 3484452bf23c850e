import Core
import Glibc

/// Which captures are asked for by what they are called: the same rules for captures on disk and for those in an
/// output folder.
public struct NameChoice: Sendable, Hashable {
  /// Beginnings of ids, or of folder names in the output, or patterns of the shell for them; empty: all. A `…` or
  /// `...` at the end, as texts show short ids, is left out.
  public var idPrefixes: [String]
  /// Patterns of the shell (`*`, `?`, `[…]`; `*` matches `/` too).
  public var excluded: [String]

  public init(idPrefixes: [String] = [], excluded: [String] = []) {
    self.idPrefixes = idPrefixes
    self.excluded = excluded
  }

  /// Why a capture is not chosen; `nil`: it is.
  ///
  /// - Parameters:
  ///   - ids: what it is called: its id, and the name of its folder in the output.
  ///   - names: what patterns are compared with, whole: its id, its folder, paths of it.
  public func refusal(ids: [String], names: @autoclosure () -> [String]) -> String? {
    if !idPrefixes.isEmpty,
      !idPrefixes.contains(where: { prefix in ids.contains { Self.begins($0, with: prefix) } })
    {
      return "not selected by --id"
    }
    if excluded.isEmpty { return nil }
    let names = names()
    return excluded.first { pattern in names.contains { Self.matches($0, pattern) } }
      .map { "not selected: --exclude \($0)" }
  }

  /// The `idPrefixes` that begin none of these ids: most likely mistyped.
  public func unknownPrefixes(among ids: some Sequence<String>) -> [String] {
    let ids = Array(ids)
    return idPrefixes.filter { prefix in !ids.contains { Self.begins($0, with: prefix) } }
  }

  /// Compares bytes.
  private static func begins(_ id: String, with prefix: String) -> Bool {
    var prefix = prefix[...]
    for mark in ["…", "..."] where prefix.hasSuffix(mark) && !id.utf8.starts(with: prefix.utf8) {
      prefix = prefix.dropLast(mark.count)
    }
    if id.utf8.starts(with: prefix.utf8) { return true }
    return prefix.utf8.contains(where: "*?[".utf8.contains) && matches(id, String(prefix))
  }

  private static func matches(_ name: String, _ pattern: String) -> Bool {
    PathText.withCString(pattern) { pattern in
      PathText.withCString(name) { fnmatch(pattern, $0, 0) }
    } == 0
  }
}
