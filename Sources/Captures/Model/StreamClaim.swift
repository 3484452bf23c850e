/// The length of a stream, and the length that the capture declares for it.
public struct StreamClaim: Hashable, Sendable, Codable {
  /// Name as in `capture.json`: `color`, `depth`, `imu`, …; `times` for the times of frames.
  public var stream: String
  /// The counted length.
  public var held: Int
  /// The length declared by `source`.
  public var declared: Int
  /// What is counted, with a verb: `frames are there`.
  public var unit: String
  /// Where the declaration comes from, as a noun: `numDepthFrames`, `the pictures`. Never a file
  /// name, which may contain the capture's id: redacted pages must not show it.
  public var source: String

  init(
    _ stream: String, held: Int, declared: Int, unit: String = "frames are there", by source: String
  ) {
    self.stream = stream
    self.held = max(0, held)
    self.declared = max(0, declared)
    self.unit = unit
    self.source = source
  }

  /// Difference between declared and counted length; 0 if there is more than declared.
  var lost: Int { max(0, declared - held) }

  /// `lost` as a fraction of `declared`, 0...1.
  var lostShare: Double { declared > 0 ? Double(lost) / Double(declared) : 0 }
}

/// The declared lengths of a capture's streams, collected by the reader of its family.
public struct StreamClaims: Hashable, Sendable {
  private var all: [StreamClaim] = []

  public init() {}

  /// Adds a claim, unless there is no count or no declaration above zero.
  public mutating func add(
    _ stream: String, held: Int?, declared: Int?, unit: String = "frames are there",
    by source: String
  ) {
    guard let held, let declared, declared > 0 else { return }
    all.append(StreamClaim(stream, held: held, declared: declared, unit: unit, by: source))
  }

  /// Adds streams whose frames correspond by index: the longest is taken as the length of all.
  /// Streams without a count (absent or unreadable) are ignored.
  mutating func addTogether(_ streams: [(stream: String, count: Int?, noun: String)]) {
    addNumbered(streams.map { ($0.stream, $0.count, $0.count, $0.noun) })
  }

  /// Adds streams of which each frame has a number, and some numbers may have no frame: the greatest
  /// `length` is taken as that of all, also of the stream that has it.
  ///
  /// - Parameter streams: `held` is the number of frames that are there, `length` one more than the
  ///   greatest number. Streams without a count (absent or unreadable) are ignored.
  mutating func addNumbered(
    _ streams: [(stream: String, held: Int?, length: Int?, noun: String)]
  ) {
    let counted = streams.filter { $0.held != nil && $0.length != nil }
    guard let longest = counted.max(by: { ($0.length ?? 0) < ($1.length ?? 0) }) else { return }
    for stream in counted {
      let isLongest = stream.stream == longest.stream
      add(
        stream.stream, held: stream.held, declared: longest.length,
        by: isLongest ? "the numbers of its files" : longest.noun)
    }
  }

  /// For each stream with losses the claim with the largest loss, in the order in which streams
  /// were added.
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
