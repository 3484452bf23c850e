import Parallel

/// Decodes every depth and confidence record once and says what is wrong with them: the part of an
/// inspection that opening a capture leaves out.
public struct StreamScan: Sendable {
  public var warnings: [CaptureWarning] = []
  /// Payload kinds met, by stream name, where the records tell.
  public var encodings: [String: String] = [:]

  /// Nothing decoded, nothing found.
  public init() {}

  /// Cost: one decode of the streams, spread over the cores of `budget`, memory of one frame a core.
  public init(_ capture: Capture, budget: CoreBudget) throws {
    try scan(capture.depth.value, as: "depth", budget)
    try scan(capture.confidence.value, as: "confidence", budget)
  }

  private mutating func scan<Pixel>(
    _ stream: PictureStream<Pixel>?, as name: String, _ budget: CoreBudget
  ) throws {
    guard let stream else { return }
    let tally = OutcomeTally(subject: name)
    switch stream.access {
    case .indexed(let source):
      // Neighboring records per piece of work: one buffer each, and few enough slots to gather.
      let piece = 16
      _ = try concurrentMap(count: (source.recordCount + piece - 1) / piece, budget: budget) {
        index in
        var pixels: [Pixel] = []
        for record in (index * piece)..<min((index + 1) * piece, source.recordCount) {
          tally.add(try source.decode(record: record, into: &pixels))
        }
      }
    case .ordered(let source):
      let reader = try source.makeReader()
      var pixels: [Pixel] = []
      while let outcome = try reader.next(into: &pixels) { tally.add(outcome) }
    }
    warnings += tally.warnings
    encodings[name] = tally.encoding
  }
}
