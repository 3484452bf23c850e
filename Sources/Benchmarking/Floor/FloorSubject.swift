import SystemPackage

/// A capture and its stages that have a floor.
public struct FloorSubject: Sendable {
  public struct Stage: Hashable, Sendable {
    /// The name in the pipeline.
    public var name: String
    /// What must be read for it, in the order of measurement; the last one counts.
    public var reading: [FloorPart]
    /// Lower estimate of the bytes that it will write; 0 = unknown.
    var expectedBytes: Int64

    public init(name: String, reading: [FloorPart], expectedBytes: Int64) {
      self.name = name
      self.reading = reading
      self.expectedBytes = expectedBytes
    }
  }

  /// The path given to `run`.
  public var path: String
  public var frames: Int
  public var stages: [Stage]
  /// Stages without a floor, with reasons.
  public var notes: [String]

  public init(path: String, frames: Int, stages: [Stage], notes: [String] = []) {
    self.path = path
    self.frames = frames
    self.stages = stages
    self.notes = notes
  }
}
