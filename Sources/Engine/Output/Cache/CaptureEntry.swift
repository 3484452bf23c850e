import Captures

/// Everything that the output folder of one capture, and the capture itself, tell: what status, report and
/// pages are made from, and what a row of the catalog holds.
public struct CaptureEntry: Hashable, Sendable, Codable {
  /// What is published of a stage.
  public struct Timing: Hashable, Sendable, Codable {
    public var stage: String
    public var seconds: Double
    public var cpuSeconds: Double
    public var frames: Int
    public var bytes: Int64
    public var outputs: Int
    /// UTC, ISO 8601.
    public var finished: String
  }

  /// The files of the capture as they were when it was last opened.
  public struct Received: Hashable, Sendable, Codable {
    public var files: Int
    public var bytes: Int64
    /// `nil`: no upload server noted anything.
    public var manifest: UploadCounts?
    /// Names of files that are known to be others than the server compared (`UploadRecord.altered`).
    var altered: [String] = []
  }

  /// A stream as `capture.json` describes it.
  public struct Stream: Hashable, Sendable, Codable {
    public var name: String
    public var file: String?
    public var encoding: String?
    public var frames: Int?
  }

  /// The name of its folder in the output.
  public var id: String
  /// The capture's name before that became a folder name.
  public var name: String
  public var family: String?
  /// Place of the capture, for people.
  public var path: String?
  /// The path as `PathText` carries it.
  public var folder: String?
  var stem: String?
  public var pipeline: String
  /// Parameters that its last run was given on top of the pipeline: `stage.parameter=value`, without secrets.
  public var settings: [String] = []
  /// Whether the capture could not be looked at: what is said of stages comes from their records.
  var inputGone: Bool
  /// Whether the capture's place is not there any more.
  var gone: Bool
  /// Who worked on it when it was looked at.
  var lockedBy: String?
  public var notes: [String]
  public var stages: [StageStatus]
  /// Warnings of opening and of all stages, and one for each shortfall; notes come last.
  public var warnings: [CaptureWarning]
  /// Streams that have lost more of what the capture declares than the pipeline accepts.
  var shortfalls: [Shortfall] = []
  /// Files that a complete upload would have.
  var missing: [String]
  var device = DeviceInfo()
  var scene = SceneInfo()
  var user: String?
  public var recordedAt: String?
  public var frames: Int?
  var streams: [Stream] = []
  var timings: [Timing]
  /// How the last attempts of stages failed.
  var failures: [FailureNote]
  var triage: TriageRecord?
  /// The verdict on its quality; `nil`: no stage has judged it.
  public var quality: CaptureQuality?
  /// `nil`: it was not recorded.
  public var received: Received?

  /// What people know the device by: its name, else its model, else its id.
  var deviceText: String? { device.name ?? device.model ?? device.id }
  /// What people know the scene by: its label, else its description, else its kind.
  var sceneText: String? { scene.label ?? scene.description ?? scene.type }

  var outputCount: Int { timings.reduce(0) { $0 + $1.outputs } }

  /// When the newest of what is published was made (UTC, ISO 8601).
  var lastPublished: String? { timings.map(\.finished).max() }

  /// Whether every stage that was asked for is done, or does not apply.
  var isUpToDate: Bool {
    !stages.isEmpty && !stages.contains(where: \.state.isLack)
  }

  /// What `--search` looks in: id, scene and device, each on a line, in lower case.
  var searchText: String {
    [
      id, name, scene.label, scene.type, scene.description, device.id, device.name, device.model,
    ].compactMap(\.self).joined(separator: "\n").lowercased()
  }

  /// What must not be told of it to everybody.
  public var subject: Redaction.Subject {
    var names = [name]
    if let stem { names.append(stem) }
    if let folder { names.append(folder) }
    return Redaction.Subject(
      id: id, family: family, names: names, path: path, deviceID: device.id,
      deviceName: device.name,
      scene: [scene.label, scene.description].compactMap(\.self), user: user)
  }
}
