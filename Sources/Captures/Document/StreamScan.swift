import Core

/// Decodes every depth and confidence record once, checks color pictures of one file each, and
/// collects problems: the part of an inspection that goes beyond opening a capture.
public struct StreamScan: Sendable {
  public var warnings: [CaptureWarning] = []
  /// Payload kinds found, by stream name, if the records state them.
  public var encodings: [String: String] = [:]

  /// The empty result.
  public init() {}

  /// Decodes the streams. Cost: one decode, spread over the cores of `budget`; memory of one frame
  /// per core.
  public init(_ capture: Capture, budget: CoreBudget) throws {
    // In the order of the stages, whose warnings a run lists.
    if case .pictures(let pictures)? = capture.color.value?.source { try scan(pictures, budget) }
    try scan(capture.depth.value, as: "depth", budget)
    try scan(capture.confidence.value, as: "confidence", budget)
  }

  /// Checks color pictures of one file each, without making their pixels.
  private mutating func scan(_ pictures: ColorPictures, _ budget: CoreBudget) throws {
    let tally = OutcomeTally(subject: "color")
    let issues = try concurrentMap(count: pictures.count, budget: budget) { index in
      try pictures.stored(index).issue
    }
    for issue in issues { tally.add(RecordOutcome(hasPicture: true, issue: issue)) }
    warnings += tally.warnings
  }

  private mutating func scan<Pixel>(
    _ stream: PictureStream<Pixel>?, as name: String, _ budget: CoreBudget
  ) throws {
    guard let stream else { return }
    let tally = OutcomeTally(subject: name)
    switch stream.access {
    case .indexed(let source):
      // Records per piece of work: they share one buffer, and few result slots are needed.
      let piece = 16
      _ = try concurrentMap(count: (source.recordCount + piece - 1) / piece, budget: budget) {
        index in
        var pixels: [Pixel] = []
        for record in (index * piece)..<min((index + 1) * piece, source.recordCount) {
          let outcome = try source.decode(record: record, into: &pixels)
          tally.add(outcome, pixels)
        }
      }
    case .ordered(let source):
      let reader = try source.makeReader()
      var pixels: [Pixel] = []
      while let outcome = try reader.next(into: &pixels) { tally.add(outcome, pixels) }
    }
    warnings += tally.warnings
    encodings[name] = tally.encoding
  }
}
