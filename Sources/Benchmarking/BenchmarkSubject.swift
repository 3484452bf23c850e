import SystemPackage

/// A capture that is measured, with what is known of it before anything runs.
public struct BenchmarkSubject: Sendable {
  /// What a stage reads.
  public struct Stage: Sendable {
    /// Name of the stage in the pipeline.
    public var name: String
    /// Files of the capture.
    public var files: [FilePath]
    /// Stages whose artifacts it reads.
    public var inputs: [String]

    public init(name: String, files: [FilePath], inputs: [String]) {
      self.name = name
      self.files = files
      self.inputs = inputs
    }
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
  /// What can be measured against the floor; `nil` unless the floor is asked for.
  public var floor: FloorSubject?

  public init(
    path: FilePath, id: String, family: String, frames: Int, files: [FilePath],
    video: FilePath?, stages: [Stage], floor: FloorSubject? = nil
  ) {
    self.path = path
    self.id = id
    self.family = family
    self.frames = frames
    self.files = files
    self.video = video
    self.stages = stages
    self.floor = floor
  }

  var measured: BenchmarkSession.Subject {
    BenchmarkSession.Subject(
      path: path.string, inputs: files, frames: frames, ignoresEditList: ignoresEditList)
  }

  /// Bytes that each stage reads: files of the capture, and the artifacts of other stages.
  ///
  /// - Parameter outcomes: stages of a run, with what they wrote. Of one that is not among them nothing is counted.
  func stageInputBytes(_ outcomes: [RunOutcome.Stage]) -> [String: Int64] {
    var bytes: [String: Int64] = [:]
    for stage in stages {
      let artifacts = stage.inputs.compactMap { input in
        outcomes.first { $0.stage == input }?.bytes
      }
      bytes[stage.name] = FileCost.bytes(of: stage.files) + artifacts.reduce(0, +)
    }
    return bytes
  }
}
