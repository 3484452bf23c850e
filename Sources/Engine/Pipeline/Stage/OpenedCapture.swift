import Captures

/// What one look at an open capture tells: what planning needs, and how many pictures there are, from which follows how
/// much stages write.
public struct OpenedCapture: Sendable, Codable {
  /// The pictures of a stream.
  public struct Pictures: Sendable, Codable {
    public var count: Int
    public var width: Int
    public var height: Int

    /// `nil`: it has none, or not all numbers are known.
    public init?(count: Int?, width: Int?, height: Int?) {
      guard let count, let width, let height, count > 0, width > 0, height > 0 else { return nil }
      (self.count, self.width, self.height) = (count, width, height)
    }
  }

  public var summary: CaptureSummary
  /// Upright.
  public var color: Pictures?
  public var depth: Pictures?
  public var confidence: Pictures?

  public init(_ capture: Capture, _ summary: CaptureSummary) {
    self.summary = summary
    let stream = capture.color.value?.description
    color = Pictures(count: stream?.frames, width: stream?.width, height: stream?.height)
    depth = capture.depth.value.flatMap {
      Pictures(count: $0.description.frames, width: $0.width, height: $0.height)
    }
    confidence = capture.confidence.value.flatMap {
      Pictures(count: $0.description.frames, width: $0.width, height: $0.height)
    }
  }
}

/// How much a stage writes for a capture that was not processed yet.
public struct ExpectedBytes: Hashable, Sendable {
  /// Less it cannot be: a job is not started if the disk has less space.
  public var least: Int64
  /// Most recordings take between a half and twice as much.
  public var usual: Int64

  public init(least: Int64, usual: Int64) { (self.least, self.usual) = (least, usual) }
}
