import Captures
import Core
import Engine

/// The parts of the frames of an export that are for training, validation and tests, for readers that take them from
/// the export.
struct ExportSplit {
  static let parameters = ParameterDescription.list(way, shares)

  private static let way = Parameter<Way?>(
    "split", .spelled,
    "Parts for training and tests that the tool reads: every:8 (each eighth exported frame) or blocks:10s (stretches "
      + "of time; frames at the borders between parts are in none)."
  ).added()
  private static let shares = Parameter(
    "shares", .spelled, default: Shares.usual,
    "With split: the parts, of train, val and test, and their shares; every:8 takes no shares."
  ).needing(anyOf: way).added()

  /// The parts in the order of the shares, with the positions of their frames among the exported ones.
  let parts: [(name: String, positions: [Int])]
  /// Frames at borders, which are in no part.
  let between: Int
  private let text: String

  /// The ways to divide the frames of one capture.
  private struct Way: SpelledValue {
    static let domain = "every:8 or blocks:10s"
    let way: FrameSplit.Way

    init?(_ text: String) {
      guard let way = FrameSplit.Way(text) else { return nil }
      switch way {
      case .every, .blocks: self.way = way
      case .capture, .scene, .device: return nil
      }
    }

    var text: String { way.text }
  }

  /// The parts that readers know.
  private struct Shares: SpelledValue {
    static let domain = "shares such as train=80,val=10,test=10 that begin with train"
    static let usual = Shares(shares: .init([("train", 90), ("val", 10)]))
    let shares: FrameSplit.Shares

    init?(_ text: String) {
      guard let shares = FrameSplit.Shares(text), shares.names.count > 1,
        shares.names.first == "train", Set(["train", "val", "test"]).isSuperset(of: shares.names)
      else { return nil }
      self.shares = shares
    }

    private init(shares: FrameSplit.Shares) { self.shares = shares }

    var text: String { shares.text }
  }

  /// `nil` if no parts are asked for.
  ///
  /// - Throws: `StageDoesNotApply` if a part has no frame, because readers fail then.
  init?(_ context: StageContext, _ frames: [Int]) throws {
    guard let way = context.parameters[Self.way],
      let split = FrameSplit(way.way, context.parameters[Self.shares].shares)
    else { return nil }
    let times = context.capture.frames.map { $0.pictureTime?.nanoseconds }
    let parts = FrameSplit.OfCapture(
      split: split, key: "capture \(context.capture.id)",
      firstNanoseconds: times.lazy.compactMap(\.self).first)
    var positions: [String: [Int]] = [:]
    for (position, frame) in frames.enumerated() {
      guard let name = parts.part(ofFrame: position, at: times[frame]) else { continue }
      positions[name, default: []].append(position)
    }
    var names = split.shares.names
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
