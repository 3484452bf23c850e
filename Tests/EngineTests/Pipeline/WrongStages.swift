extension WrongFile {
  private static func stage(_ name: String, _ lines: String, _ diagnostics: String) -> WrongFile {
    WrongFile(name, "schema: 1\nstages:\n  a:\n" + lines, diagnostics)
  }

  /// Wrong within one stage.
  static let stages: [WrongFile] = [
    stage(
      "a stage without content", "  b: {uses: make-color}\n",
      """
      test.yaml:3:5: stage 'a' must be a map with 'uses', indented below its name
          a:
            ^
      """),
    stage(
      "a stage that is a list", "    - make-color\n",
      """
      test.yaml:4:5: stage 'a' must be a map with 'uses', indented below its name
            - make-color
            ^
      """),
    stage(
      "no 'uses'", "    keep: true\n",
      """
      test.yaml:3:3: stage 'a' has no 'uses'
          a:
          ^
      """),
    stage(
      "'uses' as a list", "    uses: [make-color]\n",
      """
      test.yaml:4:11: a single value is expected here
            uses: [make-color]
                  ^
      """),
    stage(
      "an unknown kind", "    uses: make-colr\n",
      """
      test.yaml:4:11: unknown kind of stage 'make-colr', did you mean 'make-color'?
            uses: make-colr
                  ^
      """),
    stage(
      "a kind like no other", "    uses: reconstruct-everything\n",
      """
      test.yaml:4:11: unknown kind of stage 'reconstruct-everything'; `scanmill list stages` lists the kinds
            uses: reconstruct-everything
                  ^
      """),
    stage(
      "an unknown key", "    uses: make-color\n    need: [b]\n",
      """
      test.yaml:5:5: unknown key 'need', did you mean 'needs'?
            need: [b]
            ^
      """),
    stage(
      "a range without units", "    uses: make-frames\n    with: {range: 300..4000}\n",
      """
      test.yaml:5:19: range: '300..4000' is not two lengths with their units, such as 0.3m..4m; write 300mm..4000mm or 300m..4000m
            with: {range: 300..4000}
                          ^
      """),
    stage(
      "a length without unit", "    uses: make-frames\n    with: {change: 0}\n",
      """
      test.yaml:5:20: change: '0' is not a length with its unit, such as 10mm, 0m to 10m; write 0mm or 0m
            with: {change: 0}
                           ^
      """),
    stage(
      "'keep' that is neither", "    uses: make-color\n    keep: maybe\n",
      """
      test.yaml:5:11: keep is true or false
            keep: maybe
                  ^
      """),
    stage(
      "'retries' too many", "    uses: make-color\n    retries: 101\n",
      """
      test.yaml:5:14: retries is a whole number, 0 to 100
            retries: 101
                     ^
      """),
    stage(
      "'timeout' without unit", "    uses: make-color\n    timeout: 30\n",
      """
      test.yaml:5:14: timeout is a duration with its unit, such as 30m
            timeout: 30
                     ^
      """),
    stage(
      "'memory' without unit known", "    uses: make-color\n    resources: {memory: 2 gigs}\n",
      """
      test.yaml:5:25: memory is a size with its unit, such as 2GB
            resources: {memory: 2 gigs}
                                ^
      """),
    stage(
      "'cpus' none", "    uses: make-color\n    resources: {cpus: 0}\n",
      """
      test.yaml:5:23: cpus is a whole number, 1 to 1024
            resources: {cpus: 0}
                              ^
      """),
    stage(
      "'cpus' by halves", "    uses: make-color\n    resources: {cpus: 1.5}\n",
      """
      test.yaml:5:23: cpus is a whole number, 1 to 1024
            resources: {cpus: 1.5}
                              ^
      """),
    stage(
      "'cpus' too many", "    uses: make-color\n    resources: {cpus: 1025}\n",
      """
      test.yaml:5:23: cpus is a whole number, 1 to 1024
            resources: {cpus: 1025}
                              ^
      """),
    stage(
      "'time' without unit", "    uses: make-color\n    resources: {time: 30}\n",
      """
      test.yaml:5:23: time is a duration with its unit, such as 30m, up to 365 days
            resources: {time: 30}
                              ^
      """),
    stage(
      "'time' of nothing", "    uses: make-color\n    resources: {time: 0s}\n",
      """
      test.yaml:5:23: time is a duration with its unit, such as 30m, up to 365 days
            resources: {time: 0s}
                              ^
      """),
    stage(
      "'time' beyond a year", "    uses: make-color\n    resources: {time: 8761h}\n",
      """
      test.yaml:5:23: time is a duration with its unit, such as 30m, up to 365 days
            resources: {time: 8761h}
                              ^
      """),
    stage(
      "an unknown resource", "    uses: make-color\n    resources: {memroy: 2GB}\n",
      """
      test.yaml:5:17: unknown resource 'memroy', did you mean 'memory'?
            resources: {memroy: 2GB}
                        ^
      """),
    stage(
      "'resources' as a text", "    uses: make-color\n    resources: 2GB\n",
      """
      test.yaml:5:16: a map is expected here
            resources: 2GB
                       ^
      """),
    stage(
      "'with' left empty", "    uses: make-color\n    with:\n",
      """
      test.yaml:5:10: a map is expected here
            with:
                 ^
      """),
    stage(
      "an unknown parameter", "    uses: make-color\n    with: {evry: 2}\n",
      """
      test.yaml:5:12: unknown parameter 'evry', did you mean 'every'?; it has: every, first
            with: {evry: 2}
                   ^
      """),
    stage(
      "a parameter that takes no list", "    uses: make-color\n    with: {every: [2]}\n",
      """
      test.yaml:5:19: every: 'a list' is not a whole number from 1
            with: {every: [2]}
                          ^
      """),
    stage(
      "a parameter that takes no map", "    uses: make-color\n    with: {every: {n: 2}}\n",
      """
      test.yaml:5:19: every: 'a map' is not a whole number from 1
            with: {every: {n: 2}}
                          ^
      """),
    stage(
      "a list with a map in it", "    uses: make-frames\n    with: {arguments: [a, {b: c}]}\n",
      """
      test.yaml:5:23: arguments: 'a list with maps in it' is not a list of strings
            with: {arguments: [a, {b: c}]}
                              ^
      """),
    stage(
      "a parameter out of range", "    uses: make-color\n    with: {every: 0}\n",
      """
      test.yaml:5:19: every: '0' is not a whole number from 1
            with: {every: 0}
                          ^
      """),
    stage(
      "part of an unknown stage", "    uses: make-frames\n    partOf: b\n",
      """
      test.yaml:5:13: unknown stage 'b'
            partOf: b
                    ^
      """),
    stage(
      "part of itself", "    uses: make-frames\n    partOf: a\n",
      """
      test.yaml:5:13: a stage cannot be part of itself
            partOf: a
                    ^
      """),
    stage(
      "part of a part",
      "    uses: make-frames\n    partOf: b\n  b: {uses: make-color, partOf: c}\n  c: {uses: make-color}\n",
      """
      test.yaml:5:13: 'b' is itself part of 'c'
            partOf: b
                    ^
      """),
    WrongFile(
      "a name with a slash", "schema: 1\nstages:\n  a/b: {uses: make-color}\n",
      """
      test.yaml:3:3: a stage name is a folder name: letters, digits, '.', '_' and '-', no '.' at its start
          a/b: {uses: make-color}
          ^
      """),
    WrongFile(
      "a name that hides", "schema: 1\nstages:\n  .a: {uses: make-color}\n",
      """
      test.yaml:3:3: a stage name is a folder name: letters, digits, '.', '_' and '-', no '.' at its start
          .a: {uses: make-color}
          ^
      """),
    WrongFile(
      "a name that is ours", "schema: 1\nstages:\n  runs: {uses: make-color}\n",
      """
      test.yaml:3:3: 'runs' is a name that the output folder uses itself
          runs: {uses: make-color}
          ^
      """),
    WrongFile(
      "a name of a file of ours", "schema: 1\nstages:\n  capture.json: {uses: make-color}\n",
      """
      test.yaml:3:3: 'capture.json' is a name that the output folder uses itself
          capture.json: {uses: make-color}
          ^
      """),
    WrongFile(
      "a name that is a list", "schema: 1\nstages:\n  ? [a, b]\n  : {uses: make-color}\n",
      """
      test.yaml:3:5: a stage name is a folder name: letters, digits, '.', '_' and '-', no '.' at its start
          ? [a, b]
            ^
      """),
  ]
}
