import Engine

/// The frames that an inner stage has chosen for an export, so that nothing is made for the others.
package struct ChosenFrames: Sendable {
  /// The port at which an export receives them.
  package static let port = "chosen"

  /// Canonical indices, ascending.
  package let frames: [Int]
  /// Numbers of skipped frames by reason; only reasons that occur.
  let leftOut: [SkippedExport: Int]

  init(_ frames: ExportFrames) {
    self.frames = frames.frames
    leftOut = frames.leftOut
  }

  /// From the record of the inner stage.
  init(_ input: InputArtifact) throws {
    guard case .array(let frames)? = input.record.recorded["chosen"],
      case .object(let leftOut)? = input.record.recorded["leftOut"]
    else {
      throw InternalError("the record of '\(input.stage)' does not say which frames it chose")
    }
    self.frames = frames.compactMap { Self.integer($0) }
    self.leftOut = Dictionary(
      uniqueKeysWithValues: SkippedExport.allCases.compactMap { reason in
        leftOut[reason.rawValue].flatMap(Self.integer).map { (reason, $0) }
      })
  }

  private static func integer(_ value: JSONValue) -> Int? {
    if case .integer(let number) = value { Int(exactly: number) } else { nil }
  }

  /// The values for the record.
  package var recorded: [String: JSONValue] {
    [
      "chosen": .array(frames.map { .integer(Int64($0)) }),
      "leftOut": .object(
        Dictionary(
          uniqueKeysWithValues: leftOut.map { ($0.key.rawValue, .integer(Int64($0.value))) })),
    ]
  }
}
