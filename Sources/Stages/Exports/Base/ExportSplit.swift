import Captures
import Core
import Engine

/// The parts of the frames of an export that are for training, validation and tests, for readers that take them from
/// the export.
struct ExportSplit {
  static let parameters = ParameterDescription.list(way, shares)

  private static let way = Parameter<String?>(
    "split", .text,
    "Parts for training and tests that the tool reads: every:8 (each eighth exported frame) or blocks:10s (stretches "
      + "of time; frames at the borders between parts are in none)."
  ).added()
  private static let shares = Parameter(
    "shares", .text, default: "train=90,val=10",
    "With split: the parts, of train, val and test, and their shares; every:8 takes no shares."
  ).needing(anyOf: way).added()

  /// The parts in the order of the shares, with the positions of their frames among the exported ones.
  let parts: [(name: String, positions: [Int])]
  /// Frames at borders, which are in no part.
  let between: Int
  private let text: String

  private static let names: Set<String> = ["train", "val", "test"]

  private static func split(_ parameters: ParameterValues) -> FrameSplit? {
    guard let way = parameters[way], let split = FrameSplit(way, shares: parameters[shares]),
      names.isSuperset(of: split.parts.map(\.name)), split.parts.first?.name == "train",
      split.parts.count > 1
    else { return nil }
    switch split.way {
    case .every, .blocks: return split
    case .capture, .scene, .device: return nil
    }
  }

  static func problems(_ parameters: ParameterValues) -> [StageProblem] {
    guard let text = parameters[way], split(parameters) == nil else { return [] }
    return [
      StageProblem(
        parameter: way.name,
        "is every:8 or blocks:10s, with shares such as train=80,val=10,test=10 that begin with train; not "
          + "'\(text)' with '\(parameters[shares])'")
    ]
  }

  /// `nil` if no parts are asked for.
  ///
  /// - Throws: `StageDoesNotApply` if a part has no frame, because readers fail then.
  init?(_ context: StageContext, _ frames: [Int]) throws {
    guard let split = Self.split(context.parameters) else { return nil }
    let times = context.capture.frames.map { $0.pictureTime?.nanoseconds }
    let parts = FrameSplit.OfCapture(
      split: split, key: "capture \(context.capture.id)",
      firstNanoseconds: times.lazy.compactMap(\.self).first)
    var positions: [String: [Int]] = [:]
    for (position, frame) in frames.enumerated() {
      guard let name = parts.part(ofFrame: position, at: times[frame]) else { continue }
      positions[name, default: []].append(position)
    }
    var names = split.parts.map(\.name)
    if case .every = split.way { names = Array(names.prefix(2)) }
    self.parts = names.map { ($0, positions[$0] ?? []) }
    if let empty = self.parts.first(where: { $0.positions.isEmpty }) {
      throw StageDoesNotApply(
        "split=\(split.text) leaves no frame for \(empty.name): choose shorter blocks, or other shares"
      )
    }
    between = frames.count - positions.values.reduce(0) { $0 + $1.count }
    text = split.text
  }

  /// The positions of a part. Readers ask for all three: without frames for tests, those for validation stand for them,
  /// and the other way round.
  func positions(_ name: String) -> [Int] {
    (parts.first { $0.name == name } ?? parts[1]).positions
  }

  /// For `export.json`.
  var json: JSONValue {
    .object(
      Dictionary(
        uniqueKeysWithValues: parts.map { ($0.name, .integer(Int64($0.positions.count))) })
    )
  }

  /// For `README.txt`.
  var sentence: String {
    let counts = parts.map { "\($0.positions.count) for \($0.name)" }.joined(separator: ", ")
    return "Parts (\(text)): \(counts)"
      + (between > 0 ? ", \(between) at borders in none." : ".")
  }
}
