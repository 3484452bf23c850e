import Core
import Testing

@testable import Engine

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
      ("fy", "fx"), ("x", nil), ("kx", "fx"), ("yy", nil), ("tables-of-everything", nil), ("", nil),
    ])
  func nearest(name: String, expected: String?) {
    #expect(
      NearestName.find(name, among: ["color", "depth", "aligned", "tables", "fx"]) == expected)
  }
}

extension WrongFile {
  /// Wrong as a whole.
  static let documents: [WrongFile] = [
    WrongFile(
      "an empty file", "",
      """
      test.yaml:1:1: a pipeline is a map with 'schema' and 'stages'
       \u{20}
        ^
      """),
    WrongFile(
      "only a comment", "# nothing\n",
      """
      test.yaml:1:1: a pipeline is a map with 'schema' and 'stages'
        # nothing
        ^
      """),
    WrongFile(
      "a text", "hello",
      """
      test.yaml:1:1: a pipeline is a map with 'schema' and 'stages'
        hello
        ^
      """),
    WrongFile(
      "a list", "- a\n- b\n",
      """
      test.yaml:1:1: a pipeline is a map with 'schema' and 'stages'
        - a
        ^
      """),
    WrongFile(
      "no schema", "stages: {a: {uses: make-color}}",
      """
      test.yaml:1:1: 'schema: 1' is missing
        stages: {a: {uses: make-color}}
        ^
      """),
    WrongFile(
      "no stages", "schema: 1\n",
      """
      test.yaml:1:1: 'stages' must be a map of at least one stage
        schema: 1
        ^
      """),
    WrongFile(
      "stages without a stage", "schema: 1\nstages: {}\n",
      """
      test.yaml:2:9: 'stages' must be a map of at least one stage
        stages: {}
                ^
      """),
    WrongFile(
      "stages as a list", "schema: 1\nstages:\n  - color\n",
      """
      test.yaml:3:3: 'stages' must be a map of at least one stage
          - color
          ^
      """),
    WrongFile(
      "a schema of the future", "schema: 2\nstages: {a: {uses: make-color}}",
      """
      test.yaml:1:9: schema is 1 in this version
        schema: 2
                ^
      """),
    WrongFile(
      "an unknown key at the top", "schema: 1\nstage: 1\nstages: {a: {uses: make-color}}",
      """
      test.yaml:2:1: unknown key 'stage', did you mean 'stages'?
        stage: 1
        ^
      """),
    WrongFile(
      "a tab for indentation", "schema: 1\nstages:\n\ta: {uses: make-color}\n",
      """
      test.yaml:3:1: a tab: YAML is indented with spaces (while scanning for the next token, found character that cannot start any token)
        \ta: {uses: make-color}
        ^
      """),
    WrongFile(
      "a bracket that is not closed", "schema: 1\nstages:\n  a: {uses: make-color\n",
      """
      test.yaml:4:1: while parsing a flow mapping, did not find expected ',' or '}'
       \u{20}
        ^
      """),
    WrongFile(
      "a text that is not closed", "schema: 1\nstages: \"a\n",
      """
      test.yaml:3:1: a quote is opened and not closed (while scanning a quoted scalar, found unexpected end of stream)
       \u{20}
        ^
      """),
    WrongFile(
      "the same stage twice",
      "schema: 1\nstages:\n  a: {uses: make-color}\n  a: {uses: make-frames}\n",
      """
      test.yaml:3:3: more than once in one map: 'a'
          a: {uses: make-color}
          ^
      """),
    WrongFile(
      "an unknown anchor", "schema: 1\nstages: {a: *b}\n",
      """
      test.yaml:2:13: found undefined alias
        stages: {a: *b}
                    ^
      """),
    WrongFile(
      "two documents", "schema: 1\n---\nstages: {}\n",
      """
      test.yaml:2:1: expected a single document in the stream, but found another document
        ---
        ^
      """),
    WrongFile(
      "a control character", "schema: 1\nstages: \u{1}\n",
      """
      test.yaml:2:9: control characters are not allowed
        stages: \\u{1}
                ^
      """),
  ]
}

extension WrongFile {
  private static func connected(_ name: String, _ lines: String, _ diagnostics: String) -> WrongFile
  {
    WrongFile(
      name,
      """
      schema: 1
      stages:
        color: {uses: make-color}
        frames: {uses: make-frames}
        one: {uses: export-depth}
        two: {uses: export-depth}

      """ + lines, diagnostics)
  }

  /// Wrong between stages.
  static let connections: [WrongFile] = [
    connected(
      "an unknown stage", "  x: {uses: align, needs: [frmes]}",
      """
      test.yaml:7:28: unknown stage 'frmes', did you mean 'frames'?
          x: {uses: align, needs: [frmes]}
                                   ^
      """),
    connected(
      "an unknown optional stage", "  x: {uses: make-tables, optional: [nothing-like-it]}",
      """
      test.yaml:7:37: unknown stage 'nothing-like-it'; stages: color, frames, one, two, x
          x: {uses: make-tables, optional: [nothing-like-it]}
                                            ^
      """),
    connected(
      "a required input is missing", "  x: {uses: align}",
      """
      test.yaml:7:3: 'x' needs a stage that makes depth-frames (input 'frames')
          x: {uses: align}
          ^
      """),
    connected(
      "a required input is optional", "  x: {uses: align, optional: [frames]}",
      """
      test.yaml:7:31: 'x' cannot do without 'frames': name it under 'needs'
          x: {uses: align, optional: [frames]}
                                      ^
      """),
    connected(
      "an input of another kind", "  x: {uses: align, needs: [color]}",
      """
      test.yaml:7:28: 'x' has no input for 'color', which makes color-images
          x: {uses: align, needs: [color]}
                                   ^
      """),
    connected(
      "an unknown input", "  x: {uses: compare, needs: {lft: one}}",
      """
      test.yaml:7:30: unknown input 'lft', did you mean 'left'?
          x: {uses: compare, needs: {lft: one}}
                                     ^
      """),
    connected(
      "an input that takes another kind", "  x: {uses: compare, needs: {left: color}}",
      """
      test.yaml:7:36: input 'left' takes depth-images, not 'color', which makes color-images
          x: {uses: compare, needs: {left: color}}
                                           ^
      """),
    connected(
      "two inputs would do", "  x: {uses: compare, needs: [one]}",
      """
      test.yaml:7:30: 'one' could be input 'left' or 'right': write {left: one}
          x: {uses: compare, needs: [one]}
                                     ^
      """),
    connected(
      "an input is connected twice",
      "  x: {uses: compare, needs: {left: one}, optional: {left: two}}",
      """
      test.yaml:7:53: input 'left' is connected twice
          x: {uses: compare, needs: {left: one}, optional: {left: two}}
                                                            ^
      """),
    connected(
      "one stage too many", "  x: {uses: make-tables, optional: [one, two]}",
      """
      test.yaml:7:42: 'x' has no input left for 'two', which makes depth-images
          x: {uses: make-tables, optional: [one, two]}
                                                 ^
      """),
    connected(
      "'needs' is a text", "  x: {uses: align, needs: frames}",
      """
      test.yaml:7:27: a list of stages, or a map from input to stage, is expected here
          x: {uses: align, needs: frames}
                                  ^
      """),
    connected(
      "'needs' holds lists", "  x: {uses: align, needs: [[frames]]}",
      """
      test.yaml:7:28: a single value is expected here
          x: {uses: align, needs: [[frames]]}
                                   ^
      """),
    connected(
      "'needs' maps to a list", "  x: {uses: align, needs: {frames: [frames]}}",
      """
      test.yaml:7:36: a single value is expected here
          x: {uses: align, needs: {frames: [frames]}}
                                           ^
      """),
    connected(
      "a stage with an error of its own is no second error",
      "  y: {uses: make-frame}\n  x: {uses: align, needs: [y]}",
      """
      test.yaml:7:13: unknown kind of stage 'make-frame', did you mean 'make-frames'?
          y: {uses: make-frame}
                    ^
      """),
  ]

  /// Stages that need each other.
  static let circles: [WrongFile] = [
    WrongFile(
      "a stage needs itself", "schema: 1\nstages:\n  a: {uses: pass, optional: [a]}\n",
      """
      test.yaml:3:3: stages need each other in a circle: a -> a; take one of them out of 'needs'
          a: {uses: pass, optional: [a]}
          ^
      """),
    WrongFile(
      "three need each other",
      """
      schema: 1
      stages:
        first: {uses: make-color}
        c: {uses: pass, optional: [a]}
        a: {uses: pass, optional: [b]}
        b: {uses: pass, optional: [c]}
      """,
      """
      test.yaml:4:3: stages need each other in a circle: c -> a -> b -> c; take one of them out of 'needs'
          c: {uses: pass, optional: [a]}
          ^
      """),
    WrongFile(
      "two circles",
      """
      schema: 1
      stages:
        a: {uses: pass, optional: [b]}
        b: {uses: pass, optional: [a]}
        c: {uses: pass, optional: [d]}
        d: {uses: pass, optional: [c]}
      """,
      """
      test.yaml:3:3: stages need each other in a circle: a -> b -> a; take one of them out of 'needs'
          a: {uses: pass, optional: [b]}
          ^
      test.yaml:5:3: stages need each other in a circle: c -> d -> c; take one of them out of 'needs'
          c: {uses: pass, optional: [d]}
          ^
      """),
  ]
}
