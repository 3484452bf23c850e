/// How much of a stream is there, beside how much the capture itself says that there was.
public struct StreamClaim: Hashable, Sendable, Codable {
  /// As in `capture.json`: `color`, `depth`, `imu`, …; `times` for the times of frames.
  public var stream: String
  /// Counted.
  public var held: Int
  /// What `source` says.
  public var declared: Int
  /// What is counted, with its verb: `frames are there`.
  public var unit: String
  /// Who declares, as a noun: `numDepthFrames`, `the pictures`. No name of a file: those may hold the
  /// capture's id, which redacted pages must not show.
  public var source: String

  public init(
    _ stream: String, held: Int, declared: Int, unit: String = "frames are there", by source: String
  ) {
    self.stream = stream
    self.held = max(0, held)
    self.declared = max(0, declared)
    self.unit = unit
    self.source = source
  }

  /// What is declared and not there; 0 where there is more than declared.
  public var lost: Int { max(0, declared - held) }

  /// `lost` as a part of `declared`, 0...1.
  public var lostShare: Double { declared > 0 ? Double(lost) / Double(declared) : 0 }
}

/// What a capture says of the lengths of its streams, gathered by the reader of its family.
public struct StreamClaims: Hashable, Sendable {
  private var all: [StreamClaim] = []

  public init() {}

  /// Adds a claim; without a count, or without a declaration above zero, there is none.
  public mutating func add(
    _ stream: String, held: Int?, declared: Int?, unit: String = "frames are there",
    by source: String
  ) {
    guard let held, let declared, declared > 0 else { return }
    all.append(StreamClaim(stream, held: held, declared: declared, unit: unit, by: source))
  }

  /// Streams of which frame k belongs to frame k of the others: the longest says how long all were.
  /// Those without a count are absent or cannot be read, and say nothing.
  public mutating func addTogether(_ streams: [(stream: String, count: Int?, noun: String)]) {
    let counted = streams.filter { $0.count != nil }
    guard let longest = counted.max(by: { ($0.count ?? 0) < ($1.count ?? 0) }) else { return }
    for stream in counted where stream.stream != longest.stream {
      add(stream.stream, held: stream.count, declared: longest.count, by: longest.noun)
    }
  }

  /// Of each stream that lacks something the claim by which it lacks the largest part, in the order in
  /// which streams were added.
  public var lacking: [StreamClaim] {
    var order: [String] = []
    var worst: [String: StreamClaim] = [:]
    for claim in all where claim.lost > 0 {
      if worst[claim.stream] == nil { order.append(claim.stream) }
      if claim.lostShare > worst[claim.stream]?.lostShare ?? 0 { worst[claim.stream] = claim }
    }
    return order.compactMap { worst[$0] }
  }
}
