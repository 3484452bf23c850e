import Media
import Engine
import Processing

/// Parameters that several stages share.
package enum CommonParameters {
  package static let compression = ParameterDescription(
    "compression", .choice(PNGCompression.allCases.map(\.rawValue)),
    default: .text(PNGCompression.fast.rawValue),
    "How PNG files are compressed: the same pixels, but different size and speed.")

  /// Selects frames by canonical index.
  package static let selection = [
    ParameterDescription(
      "every", .integer(1...Int.max), default: .integer(1),
      "Only frames whose index is a multiple of this."),
    ParameterDescription(
      "first", .integer(0...Int.max), default: .integer(0), "The first frame, by index."),
    ParameterDescription("last", .integer(0...Int.max), "The last frame, by index, inclusive."),
  ]

  static func selection(_ parameters: ParameterValues) -> FrameSelection {
    FrameSelection(
      every: parameters.integer("every") ?? 1, first: parameters.integer("first") ?? 0,
      last: parameters.integer("last"))
  }

  /// Problems of a selection of frames.
  static func selectionProblems(_ stage: StageDefinition) -> [StageProblem] {
    guard let first = stage.parameters.integer("first"),
      let last = stage.parameters.integer("last"), first > last
    else { return [] }
    return [
      StageProblem(
        parameter: "first",
        "stage '\(stage.name)' would write nothing: first \(first) is after last \(last)")
    ]
  }

  package static func compression(_ parameters: ParameterValues) -> PNGCompression {
    parameters.text("compression").flatMap(PNGCompression.init) ?? .fast
  }
}
