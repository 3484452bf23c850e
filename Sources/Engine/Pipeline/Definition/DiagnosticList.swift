import Core
import Yams

/// Collects the diagnostics of one file: a pipeline or a profile.
package struct DiagnosticList {
  package let file: String
  private let text: String
  package var all: [Diagnostic] = []

  package init(file: String, text: String) {
    self.file = file
    self.text = text
  }

  /// Throws all diagnostics, in the order of the file, if there are any.
  package func check() throws(PipelineError) {
    guard all.isEmpty else {
      throw PipelineError(
        diagnostics: all.sorted { ($0.line, $0.column) < ($1.line, $1.column) })
    }
  }

  package mutating func add(_ mark: Mark?, _ message: String) {
    add(line: mark?.line ?? 1, column: mark?.column ?? 1, message)
  }

  private mutating func add(line: Int, column: Int, _ message: String) {
    all.append(
      Diagnostic(
        file: file, line: line, column: column, message: message,
        sourceLine: self.line(line).map(String.init) ?? ""))
  }

  /// Line `number`, counted from 1; `nil` beyond the end. Lines are split at any line end: in Swift a CR LF is one
  /// character that is not `\n`.
  private func line(_ number: Int) -> Substring? {
    let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
    return lines.indices.contains(number - 1) ? lines[number - 1] : nil
  }

  package mutating func add(yaml error: YamlError) {
    switch error {
    case .scanner(let context, let problem, let mark, _),
      .parser(let context, let problem, let mark, _),
      .composer(let context, let problem, let mark, _):
      let words = [context?.text, problem].compactMap { $0 }.joined(separator: ", ")
      add(mark, hint(at: mark, words).map { "\($0) (\(words))" } ?? words)
    case .reader(let problem, let offset, _, let yaml):
      let place = Self.place(ofByte: offset ?? 0, in: yaml)
      add(line: place.line, column: place.column, problem)
    case .duplicatedKeysInMapping(let duplicates, let context):
      let names = duplicates.map { "'\($0)'" }.joined(separator: ", ")
      add(context.mark, "more than once in one map: \(names)")
    default: add(nil, "\(error)")
    }
  }

  /// The root of the document and the map that it is; `nil` after a diagnostic.
  ///
  /// - Parameters:
  ///   - what: the kind of file: `a profile`.
  ///   - keys: those of the map, as words.
  package mutating func map(
    of text: String, _ what: String, with keys: String
  ) -> (root: Node, map: Node.Mapping)? {
    if let problem = InputLimits.problem(inYAML: text) {
      add(nil, "not \(what): it has \(problem)")
      return nil
    }
    do {
      // Values are read as text: the rules that tell numbers from words are regular expressions, which take longer
      // to compile than a pipeline takes to be read.
      let root = try Yams.compose(yaml: text, .basic)
      if let root, let map = root.mapping { return (root, map) }
      add(root?.mark, "\(what) is a map with \(keys)")
    } catch let error as YamlError {
      add(yaml: error)
    } catch {
      add(nil, "\(error)")
    }
    return nil
  }

  /// A hint for a message of the parser, if there is one.
  private func hint(at mark: Mark, _ words: String) -> String? {
    if words.contains("quoted scalar"), words.contains("end of stream") {
      return "a quote is opened and not closed"
    }
    let rest = line(mark.line)?.unicodeScalars.dropFirst(mark.column - 1)
    return rest?.first == "\t" ? "a tab: YAML is indented with spaces" : nil
  }

  private static func place(ofByte offset: Int, in text: String) -> (line: Int, column: Int) {
    let before = String(decoding: text.utf8.prefix(max(0, offset)), as: UTF8.self)
    let lines = before.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
    return (lines.count, (lines.last?.unicodeScalars.count ?? 0) + 1)
  }

  package mutating func unknown(_ node: Node, among known: [String], what: String) {
    let name = node.string ?? "?"
    add(node.mark, "unknown \(what) '\(name)'\(NearestName.suggestion(name, among: known))")
  }

  mutating func unknown(
    _ text: Node.Scalar, among known: [String], what: String, listing: String = ""
  ) {
    add(
      text.mark,
      "unknown \(what) '\(text.string)'\(NearestName.suggestion(text.string, among: known))\(listing)"
    )
  }

  /// Reports a parameter that its stage does not have, with those that it has.
  mutating func unknownParameter(_ text: Node.Scalar, of known: [String]) {
    unknown(text, among: known, what: "parameter", listing: StageWords.parameters(known))
  }

  /// Reports a stage that the file does not have; the name of a kind gets its own hint.
  mutating func unknownStage(
    _ text: Node.Scalar, _ stages: [(name: String, kind: String)]
  ) {
    add(text.mark, "unknown stage '\(text.string)'\(StageWords.hint(text.string, stages))")
  }

  /// Reports a kind that does not exist; the name of a stage of this file gets its own hint.
  mutating func unknownKind(_ text: Node.Scalar, among known: [String], stages: [String]) {
    let suggestion = NearestName.suggestion(text.string, among: known)
    let hint =
      !suggestion.isEmpty
      ? suggestion
      : (stages.contains(text.string) ? ": it is a stage" : "")
        + "; `scanmill list stages` lists the kinds"
    add(text.mark, "unknown kind of stage '\(text.string)'\(hint)")
  }
}

/// An error in a pipeline file, with its position.
public struct Diagnostic: Hashable, Sendable, CustomStringConvertible {
  public var file: String
  /// Line number, from 1.
  public var line: Int
  /// Column number, from 1, in Unicode scalars.
  var column: Int
  var message: String
  /// The line of the file that contains it.
  var sourceLine: String

  public var description: String {
    // Tabs are kept, so that the caret is below its target; escaped characters are longer.
    let above = sourceLine.unicodeScalars.prefix(max(0, column - 1))
    let missing = max(0, column - 1 - above.count)
    let caret =
      String(String.UnicodeScalarView(above)).shown.unicodeScalars
      .map { $0 == "\t" ? "\t" : " " }.joined() + String(repeating: " ", count: missing) + "^"
    return
      "\(file.onOneLine):\(line):\(column): \(message.onOneLine)\n  \(sourceLine.shown)\n  \(caret)"
  }
}

/// All errors in a pipeline file.
public struct PipelineError: Error, Hashable, CustomStringConvertible {
  var diagnostics: [Diagnostic]

  public var description: String {
    diagnostics.map(\.description).joined(separator: "\n")
  }
}
