import Yams

/// Gathers diagnostics of one file.
struct DiagnosticList {
  let file: String
  let lines: [Substring]
  var all: [Diagnostic] = []

  init(file: String, text: String) {
    self.file = file
    // By any line end: in Swift a CR LF is one character and no `\n`.
    lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
  }

  mutating func add(_ mark: Mark?, _ message: String) {
    add(line: mark?.line ?? 1, column: mark?.column ?? 1, message)
  }

  private mutating func add(line: Int, column: Int, _ message: String) {
    all.append(
      Diagnostic(
        file: file, line: line, column: column, message: message,
        sourceLine: lines.indices.contains(line - 1) ? String(lines[line - 1]) : ""))
  }

  mutating func add(yaml error: YamlError) {
    switch error {
    case .scanner(let context, let problem, let mark, _),
      .parser(let context, let problem, let mark, _),
      .composer(let context, let problem, let mark, _):
      add(mark, [context?.text, problem, hint(at: mark)].compactMap { $0 }.joined(separator: ", "))
    case .reader(let problem, let offset, _, let yaml):
      let place = Self.place(ofByte: offset ?? 0, in: yaml)
      add(line: place.line, column: place.column, problem)
    case .duplicatedKeysInMapping(let duplicates, let context):
      let names = duplicates.map { "'\($0)'" }.joined(separator: ", ")
      add(context.mark, "more than once in one map: \(names)")
    default: add(nil, "\(error)")
    }
  }

  private func hint(at mark: Mark) -> String? {
    guard lines.indices.contains(mark.line - 1) else { return nil }
    let rest = lines[mark.line - 1].unicodeScalars.dropFirst(mark.column - 1)
    return rest.first == "\t" ? "a tab: YAML is indented with spaces" : nil
  }

  private static func place(ofByte offset: Int, in text: String) -> (line: Int, column: Int) {
    let before = String(decoding: text.utf8.prefix(max(0, offset)), as: UTF8.self)
    let lines = before.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
    return (lines.count, (lines.last?.unicodeScalars.count ?? 0) + 1)
  }

  mutating func unknown(_ node: Node, among known: [String], what: String) {
    let name = node.string ?? "?"
    add(node.mark, "unknown \(what) '\(name)'\(NearestName.suggestion(name, among: known))")
  }

  mutating func unknown(_ text: PipelineFile.Text, among known: [String], what: String) {
    add(
      text.mark,
      "unknown \(what) '\(text.value)'\(NearestName.suggestion(text.value, among: known))")
  }
}
