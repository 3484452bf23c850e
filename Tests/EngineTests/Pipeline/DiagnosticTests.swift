import Core
@testable import Engine
import Testing

/// A wrong pipeline file and everything that is said about it.
struct WrongFile: Sendable, CustomTestStringConvertible {
  var testDescription: String
  var text: String
  var diagnostics: String

  init(_ testDescription: String, _ text: String, _ diagnostics: String) {
    self.testDescription = testDescription
    self.text = text
    self.diagnostics = diagnostics
  }

  static let all: [WrongFile] = documents + stages + connections + circles
}

@Suite("Diagnostics of pipeline files")
struct DiagnosticTests {
  @Test("Every error is reported with line, column and caret", arguments: WrongFile.all)
  func wrong(file: WrongFile) {
    let error = #expect(throws: PipelineError.self) { try pipeline(file.text) }
    #expect((error?.description ?? "") == file.diagnostics)
  }

  @Test("All errors of a file come at once, in the order of the file")
  func all() {
    let error = #expect(throws: PipelineError.self) {
      try pipeline(
        """
        schema: 2
        stagse: 3
        stages:
          a b: {uses: make-color}
          frames:
            uses: make-frame
            kep: true
          depth:
            uses: export-depth
            with: {stream: both, strem: depth}
            retries: many
            needs: [frames]
          aligned: {uses: align}
        """)
    }
    #expect(
      error?.diagnostics.map { "\($0.line):\($0.column) \($0.message)" } == [
        "1:9 schema is 1 in this version",
        "2:1 unknown key 'stagse', did you mean 'stages'?",
        "4:3 a stage name is a folder name: letters, digits, '.', '_' and '-', no '.' at its start",
        "6:11 unknown kind of stage 'make-frame', did you mean 'make-frames'?",
        "7:5 unknown key 'kep', did you mean 'keep'?",
        "10:20 stream: 'both' is not one of depth, confidence",
        "10:26 unknown parameter 'strem', did you mean 'stream'?; it has: stream",
        "11:14 retries is a whole number, 0 to 100",
        "13:3 'aligned' needs a stage that makes depth-frames (input 'frames')",
      ])
  }

  @Test("A caret is below its target, also after tabs and wide letters")
  func caret() {
    let diagnostic = Diagnostic(
      file: "f", line: 1, column: 4, message: "m", sourceLine: "\tå\tx: 1")
    #expect(diagnostic.description == "f:1:4: m\n  \tå\tx: 1\n  \t \t^")
  }

  @Test("Lines of a file with Windows line ends are shown alone")
  func windows() {
    let error = #expect(throws: PipelineError.self) {
      try pipeline("schema: 1\r\nstages:\r\n  a: {uses: make-colour}\r\n")
    }
    #expect(
      error?.description == """
        test.yaml:3:13: unknown kind of stage 'make-colour', did you mean 'make-color'?
            a: {uses: make-colour}
                      ^
        """)
  }

  @Test("Deep nesting and long files end in a diagnostic, not in a crash")
  func deep() {
    for text in [
      String(repeating: "[", count: 100_000), String(repeating: "{a: ", count: 50_000),
      String(repeating: "- ", count: 50_000), "schema: 1\nstages: &a {x: *a}",
    ] {
      let error = #expect(throws: PipelineError.self) { try pipeline(text) }
      #expect(error?.diagnostics.isEmpty == false)
    }
  }

  @Test("A file cut at any byte is read or refused, never more")
  func cut() {
    let bytes = Array(usualPipeline.utf8)
    var refused = 0
    for count in 0..<bytes.count {
      do {
        _ = try pipeline(String(decoding: bytes[..<count], as: UTF8.self))
      } catch let error as PipelineError {
        refused += error.diagnostics.isEmpty ? 0 : 1
      } catch {
        Issue.record("cut at \(count): \(error)")
      }
    }
    #expect(refused > bytes.count / 2)
  }

  @Test(
    "The nearest known name is offered, a far one is not",
    arguments: [
      ("colour", "color"), ("DEPTH", "depth"), ("dpeth", "depth"), ("aligend", "aligned"),
      ("x", nil), ("tables-of-everything", nil), ("", nil),
    ])
  func nearest(name: String, expected: String?) {
    #expect(NearestName.find(name, among: ["color", "depth", "aligned", "tables"]) == expected)
  }
}
