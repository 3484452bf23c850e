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
