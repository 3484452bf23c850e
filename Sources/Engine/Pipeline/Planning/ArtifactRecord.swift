import Captures
import FoundationEssentials
import Core

/// `artifact.json`: how this artifact was made, and its files. Written last.
public struct ArtifactRecord: Hashable, Sendable, Codable {
  public static let fileName = "artifact.json"

  public var schema = 1
  /// The stage's name in the pipeline: the folder's name.
  public var stage: String
  public var uses: String
  public var version: Int
  /// Versions of libraries that are part of the fingerprint. Empty for stages that depend on no
  /// library.
  public var libraries: [String: String]
  /// The build that made it; `nil` where it is not known. Never compared.
  public var program: ProgramIdentity?
  public var fingerprint: Digest
  /// The values of all parameters. In the file `recorded` is listed among them as well.
  public var parameters: [String: JSONValue]
  /// Values that the stage computed for readers of the artifact, never with the name of a
  /// parameter.
  public var recorded: [String: JSONValue]
  public var inputs: Inputs
  public var outputs: [OutputEntry]
  public var outputDigest: Digest
  /// UTC, ISO 8601.
  public var started: String
  public var finished: String
  public var seconds: Double
  public var cpuSeconds: Double
  /// Peak resident memory of the process at the end of the stage.
  public var peakMemoryBytes: Int64
  public var frames: Int
  public var warnings: [CaptureWarning]
  /// What could not be made although the rest was, one sentence each. If there are any, people can
  /// use the artifact but its stage has failed: it is never up to date, and no other artifact is
  /// built from it.
  public var problems: [String] = []

  public init(
    stage: String, ingredients: FingerprintInputs, recorded: [String: JSONValue],
    outputs: [OutputEntry],
    started: String, finished: String, seconds: Double, cpuSeconds: Double,
    peakMemoryBytes: Int64, frames: Int, warnings: [CaptureWarning],
    problems: [String] = [], program: ProgramIdentity? = nil
  ) throws {
    self.stage = stage
    uses = ingredients.uses
    version = ingredients.version
    libraries = ingredients.libraries
    self.program = program
    fingerprint = try ingredients.fingerprint()
    parameters = ingredients.parameters
    self.recorded = recorded.filter { ingredients.parameters[$0.key] == nil }
    if outputs.isEmpty { self.recorded[Self.noOutputs] = .bool(true) }
    inputs = ingredients.inputs
    self.outputs = outputs
    outputDigest = outputs.digest
    self.started = started
    self.finished = finished
    self.seconds = seconds
    self.cpuSeconds = cpuSeconds
    self.peakMemoryBytes = peakMemoryBytes
    self.frames = frames
    self.warnings = warnings
    self.problems = problems
  }

  /// A record read from a file.
  public init(
    schema: Int, stage: String, uses: String, version: Int, fingerprint: Digest,
    parameters: [String: JSONValue], recorded: [String: JSONValue], inputs: Inputs,
    outputs: [OutputEntry], outputDigest: Digest, started: String, finished: String,
    seconds: Double, cpuSeconds: Double, peakMemoryBytes: Int64, frames: Int,
    warnings: [CaptureWarning], problems: [String] = [], libraries: [String: String] = [:],
    program: ProgramIdentity? = nil
  ) {
    self.schema = schema
    self.stage = stage
    self.uses = uses
    self.version = version
    self.libraries = libraries
    self.program = program
    self.fingerprint = fingerprint
    self.parameters = parameters
    self.recorded = recorded
    self.inputs = inputs
    self.outputs = outputs
    self.outputDigest = outputDigest
    self.started = started
    self.finished = finished
    self.seconds = seconds
    self.cpuSeconds = cpuSeconds
    self.peakMemoryBytes = peakMemoryBytes
    self.frames = frames
    self.warnings = warnings
    self.problems = problems
  }

  /// The inputs of an artifact.
  public struct Inputs: Hashable, Sendable, Codable {
    /// Output digests of the artifacts at connected ports; ports without artifact are absent.
    public var artifacts: [String: Digest]
    /// Absent for a stage that reads only artifacts.
    public var capture: CaptureInputs?
    /// Digests of files that parameters name.
    public var external: [String: Digest]

    public init(
      artifacts: [String: Digest], capture: CaptureInputs?, external: [String: Digest]
    ) {
      self.artifacts = artifacts
      self.capture = capture
      self.external = external
    }
  }
}

/// The part of a capture that a stage reads.
public struct CaptureInputs: Hashable, Sendable, Codable {
  public var family: CaptureFamily
  public var readerVersion: Int
  /// The key in `files` for a stage that reads the capture's folder itself: one digest per file, of
  /// its name and content, sorted by name.
  static let folderKey = "folder"

  /// Digests by part, in the order in which the reader names the files.
  public var files: [String: [Digest]]

  public init(family: CaptureFamily, readerVersion: Int, files: [String: [Digest]]) {
    self.family = family
    self.readerVersion = readerVersion
    self.files = files
  }
}
