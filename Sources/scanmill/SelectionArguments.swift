import Core
import ArgumentParser
import Captures
import Engine

/// Options that select captures, shared by `run`, `status` and `bench`.
struct SelectionArguments: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Only captures of this family (repeatable, or separated by commas).", valueName: "family"),
    completion: Completion.families)
  var family: [String] = []

  @Option(
    help: ArgumentHelp(
      "Leave out captures whose id, folder or path matches (repeatable).", valueName: "glob"))
  var exclude: [String] = []

  @Option(
    help: ArgumentHelp(
      "Only captures whose id begins with this or matches this glob (repeatable, or separated by commas).",
      valueName: "prefix|glob"))
  var id: [String] = []

  func validate() throws {
    for name in Self.split(family) {
      let known = Toolbox.captures.families
      _ = try Self.known(
        name, known.first { $0.rawValue == name }, "family", known.map(\.rawValue))
    }
    if Self.split(id).contains("") {
      throw ValidationError("--id is the beginning of an id, not an empty string")
    }
    for pattern in Self.split(id) {
      guard let problem = GlobCheck.problem(of: pattern) else { continue }
      throw ValidationError("--id '\(pattern)': \(problem)")
    }
    for pattern in exclude where !pattern.isEmpty {
      guard let problem = GlobCheck.problem(of: pattern) else { continue }
      throw ValidationError("--exclude '\(pattern)': \(problem)")
    }
    if exclude.contains("") {
      throw ValidationError("--exclude is a pattern such as 'test-*', not an empty string")
    }
  }

  var families: Set<CaptureFamily> {
    Set(Self.split(family).map { CaptureFamily($0) })
  }

  var names: NameChoice { NameChoice(idPrefixes: Self.split(id), excluded: exclude) }

  /// The choice for captures on disk; `since` has been validated.
  func choice(since: String?) throws -> CaptureChoice {
    var choice = CaptureChoice()
    choice.families = families
    choice.names = names
    choice.sinceNanoseconds = try since.map(DateArgument.nanoseconds)
    return choice
  }

  /// Reports prefixes that no ID begins with, which would otherwise look like captures without
  /// work: throws with exit code 65 if this is true of all given prefixes, else prints a note for
  /// each.
  func checkIDs(among ids: @autoclosure () -> [String]) throws {
    if names.idPrefixes.isEmpty { return }
    let ids = ids()
    let unknown = names.unknownPrefixes(among: ids)
    guard !unknown.isEmpty else { return }
    let texts = unknown.map {
      "--id \($0): no capture here has an id that begins with it or matches it"
    }
    guard unknown.count == names.idPrefixes.count else {
      for text in texts { Console.error("note: \(text)") }
      return
    }
    throw CommandFailure(
      ExitStatus.noCapture,
      texts.joined(separator: "; ") + NearestName.suggestion(unknown[0], among: ids))
  }

  /// Notes patterns of `--exclude` that leave nothing out.
  func tellIdleExclusions(among names: @autoclosure () -> [String]) {
    if exclude.isEmpty { return }
    for pattern in self.names.idleExclusions(among: names()) {
      let hint = pattern.contains(",") ? "; name each pattern with an --exclude of its own" : ""
      Console.error("note: --exclude '\(pattern)' matches no capture here\(hint)".onOneLine)
    }
  }

  static func split(_ texts: [String]) -> [String] {
    texts.flatMap { $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init) }
  }

  static func known<Value>(
    _ name: String, _ value: Value?, _ what: String, _ names: [String]
  ) throws -> Value {
    if let value { return value }
    throw ValidationError(
      "no \(what) '\(name)'" + NearestName.suggestion(name, among: names)
        + "; known: \(names.joined(separator: ", "))")
  }
}

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
