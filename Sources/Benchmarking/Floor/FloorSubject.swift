import SystemPackage

/// A capture and those of its stages that have a floor.
public struct FloorSubject: Sendable {
  public struct Stage: Hashable, Sendable {
    /// As the pipeline calls it.
    public var name: String
    /// What must be read for it, in the order in which it is measured; the last one counts.
    public var reading: [FloorPart]
    /// About how much it will write, rather too little; 0 = unknown.
    public var expectedBytes: Int64

    public init(name: String, reading: [FloorPart], expectedBytes: Int64) {
      self.name = name
      self.reading = reading
      self.expectedBytes = expectedBytes
    }
  }

  /// As given to `run`.
  public var path: String
  public var frames: Int
  public var stages: [Stage]
  /// Stages that have none, and why.
  public var notes: [String]

  public init(path: String, frames: Int, stages: [Stage], notes: [String] = []) {
    self.path = path
    self.frames = frames
    self.stages = stages
    self.notes = notes
  }
}
