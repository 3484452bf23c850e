import Media
import Engine
import Processing

/// Parameters that several stages share.
package enum CommonParameters {
  package static let compression = Parameter(
    "compression", .choice(), default: PNGCompression.fast,
    "How PNG files are compressed: the same pixels, but different size and speed.")

  static let every = Parameter(
    "every", .integer(1...Int.max), default: 1, "Only frames whose index is a multiple of this.")
  static let first = Parameter(
    "first", .integer(0...Int.max), default: 0, "The first frame, by index.")
  static let last = Parameter("last", .integer(0...Int.max), "The last frame, by index, inclusive.")
  /// Selects frames by canonical index.
  package static let selection = ParameterDescription.list(every, first, last)

  static func selection(_ parameters: ParameterValues) -> FrameSelection {
    FrameSelection(every: parameters[every], first: parameters[first], last: parameters[last])
  }

  /// Problems of a selection of frames.
  static func selectionProblems(_ stage: StageDefinition) -> [StageProblem] {
    let first = stage.parameters[first]
    guard let last = stage.parameters[last], first > last else { return [] }
    return [
      StageProblem(
        parameter: Self.first.name,
        "stage '\(stage.name)' would write nothing: first \(first) is after last \(last)")
    ]
  }
}
