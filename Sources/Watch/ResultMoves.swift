import Captures
import Engine

/// Results that are to be moved with their capture, which was renamed.
struct ResultMove: Sendable, Hashable {
  /// The name of the folder in the output that it had.
  var name: String
  var to: CaptureLocation
}

/// Results of renamed captures: which are to follow them, and which have. Memory: a bounded number of names.
struct ResultMoves: Sendable {
  private var open: [ResultMove] = []
  /// Former ids of captures whose results were moved, to the ones that they have.
  private(set) var renamed: [String: String]

  private static let most = 10_000

  /// Goes on with what the last watcher noted.
  init(_ previous: WatchRecord?) { renamed = previous?.renamed ?? [:] }

  mutating func want(_ name: String, to location: CaptureLocation) {
    open.append(ResultMove(name: name, to: location))
  }

  /// Takes the moves that are wanted since this was last asked.
  mutating func take() -> [ResultMove] {
    defer { open = [] }
    return open
  }

  /// Results of one id have become those of another one.
  mutating func note(_ old: String, to new: String) {
    if renamed.count >= Self.most { renamed = [:] }
    for (former, name) in renamed where name == old { renamed[former] = new }
    renamed[old] = new
    renamed[new] = nil
  }
}
