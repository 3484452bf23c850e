import SystemPackage

/// A capture that is measured, with what is known of it before anything runs.
public struct BenchmarkSubject: Sendable {
  /// A stage, and what must be read for it.
  public struct Stage: Hashable, Sendable {
    /// Name of the stage in the pipeline.
    public var name: String
    /// What must be read for it, in the order of measurement; the last one counts. Empty: it has no floor, or none is
    /// asked for.
    public var reading: [FloorPart] = []
    /// Lower estimate of the bytes that it will write; 0 = unknown.
    public var expectedBytes: Int64 = 0

    public init(name: String) { self.name = name }
  }

  /// Path as given to `run`.
  public var path: FilePath
  public var id: String
  public var family: String
  public var frames: Int
  /// All files that any stage may read.
  public var files: [FilePath]
  /// What peers decode; `nil` for a capture whose color is no readable video.
  public var video: FilePath?
  /// Whether pictures that the video's edit list hides belong to the recording.
  public var ignoresEditList = false
  /// In pipeline order.
  public var stages: [Stage]
  /// Stages without a floor, with reasons.
  public var floorNotes: [String] = []

  public init(
    path: FilePath, id: String, family: String, frames: Int, files: [FilePath],
    video: FilePath?, stages: [Stage]
  ) {
    self.path = path
    self.id = id
    self.family = family
    self.frames = frames
    self.files = files
    self.video = video
    self.stages = stages
  }
}
