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
