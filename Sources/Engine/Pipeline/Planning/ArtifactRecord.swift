import Captures
import Core
import FoundationEssentials
import SystemPackage

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
  public var libraries: [String: String] = [:]
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
  /// The start in UTC (ISO 8601).
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

  /// The inputs of an artifact.
  public struct Inputs: Hashable, Sendable, Codable {
    /// Digests of the files that are read at connected ports (`Port.digest`); ports without artifact are absent.
    public var artifacts: [String: Digest]
    /// Absent for a stage that reads only artifacts.
    public var capture: CaptureInputs?
    /// Digests of files that parameters name.
    public var external: [String: Digest]
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

  /// The reader as people are told of it: `scannet 3`.
  var reader: String { "\(family.rawValue) \(readerVersion)" }
}

extension ArtifactRecord {
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

  private enum Key: String, CodingKey {
    case schema, stage, uses, version, libraries, program, fingerprint, parameters, recorded, inputs
    case outputs, outputDigest, started, finished, seconds, cpuSeconds, peakMemoryBytes, frames
    case warnings, problems
  }

  /// The key `parameters` of the file also lists values that the stage computed, where readers of
  /// the artifact expect them; `recorded` lists the names of those.
  public init(from decoder: any Decoder) throws {
    let object = try decoder.container(keyedBy: Key.self)
    func value<Value: Decodable>(_ key: Key) throws -> Value {
      try object.decode(Value.self, forKey: key)
    }
    schema = try value(.schema)
    stage = try value(.stage)
    uses = try value(.uses)
    version = try value(.version)
    libraries = try object.decodeIfPresent([String: String].self, forKey: .libraries) ?? [:]
    program = try object.decodeIfPresent(ProgramIdentity.self, forKey: .program)
    fingerprint = try value(.fingerprint)
    parameters = try value(.parameters)
    recorded = try value(.recorded)
    for name in recorded.keys { parameters[name] = nil }
    inputs = try value(.inputs)
    outputs = try value(.outputs)
    outputDigest = try value(.outputDigest)
    started = try value(.started)
    finished = try value(.finished)
    seconds = try value(.seconds)
    cpuSeconds = try value(.cpuSeconds)
    peakMemoryBytes = try value(.peakMemoryBytes)
    frames = try value(.frames)
    warnings = try value(.warnings)
    problems = try object.decodeIfPresent([String].self, forKey: .problems) ?? []
  }

  public func encode(to encoder: any Encoder) throws {
    let members: JSONObject = [
      "schema": schema, "stage": stage, "uses": uses, "version": version,
      "libraries": libraries.isEmpty ? nil : libraries, "program": program,
      "fingerprint": fingerprint,
      "parameters": parameters.merging(recorded) { effective, _ in effective },
      "recorded": recorded, "inputs": inputs, "outputs": outputs, "outputDigest": outputDigest,
      "started": started, "finished": finished, "seconds": seconds, "cpuSeconds": cpuSeconds,
      "peakMemoryBytes": peakMemoryBytes, "frames": frames, "warnings": warnings,
      "problems": problems.isEmpty ? nil : problems,
    ]
    try members.withoutNulls.encode(to: encoder)
  }

  /// Bytes of the files that it lists.
  var bytes: Int64 { outputs.reduce(0) { $0 &+ $1.bytes } }

  /// Whether the fingerprint matches the content of the record. Cost: one canonical JSON and its SHA-256.
  var isSound: Bool {
    let listed = FingerprintInputs(
      uses: uses, version: version, libraries: libraries, parameters: parameters, inputs: inputs)
    return (try? listed.fingerprint()) == fingerprint
  }

  /// The key among `recorded` under which stages state what the values of their color pictures mean.
  public static let lightKey = "light"

  /// The value of white in 16-bit pictures of linear light, as a part of the largest value; `nil` for all
  /// other pictures.
  public var whiteOfLinearLight: Double? {
    recorded[Self.lightKey]?["white"]?.number
  }

  /// The signs of acceleration in a table of motion samples: `coremotion`, or `android`, which are those of specific
  /// force; `nil` for other artifacts.
  public var signsOfAcceleration: String? {
    guard case .string(let convention)? = recorded["recordedConvention"] else { return nil }
    return parameters["acceleration"] == .string("specific-force") ? "android" : convention
  }

  /// The schema that this program writes and understands.
  static let knownSchema = 1

  /// Recorded if a stage legitimately wrote no files, to distinguish that from an emptied list.
  static let noOutputs = "noOutputs"

  /// Why the record of the artifact in the folder of `stage` is not consistent; `nil` if it is.
  /// Cost: a digest over the list of outputs.
  public func problem(of stage: String) -> String? {
    if schema != Self.knownSchema { return "schema \(schema) is not known" }
    if self.stage != stage { return "it is about the stage '\(self.stage)'" }
    if outputs.isEmpty, recorded[Self.noOutputs] != .bool(true) { return "it lists no outputs" }
    if frames < 0 || outputs.contains(where: { $0.bytes < 0 }) { return "it has negative numbers" }
    if let odd = outputs.first(where: { !Self.isInside($0.path) }) {
      return "its output '\(odd.path)' leads out of the artifact"
    }
    if Set(outputs.map(\.path)).count != outputs.count { return "it lists an output twice" }
    if outputDigest != outputs.digest { return "its outputDigest does not match its outputs" }
    return nil
  }

  private static func isInside(_ path: String) -> Bool {
    let relative = FilePath(path)
    return relative.isRelative && !relative.components.isEmpty
      && relative.components.allSatisfy { $0.kind == .regular } && path != fileName
      && !path.utf8.contains(0)
  }
}

/// Everything that determines the bytes of an artifact. Paths, host, cores, memory, time and job
/// count are not included.
public struct FingerprintInputs: Hashable, Sendable, Encodable {
  public var uses: String
  public var version: Int
  /// Versions of libraries that determine the bytes, by library; empty for most stages.
  var libraries: [String: String] = [:]
  public var parameters: [String: JSONValue]
  public var inputs: ArtifactRecord.Inputs

  private enum Key: CodingKey {
    case uses, version, libraries, parameters, inputs
  }

  /// Leaves out empty `libraries`: most stages depend on none.
  public func encode(to encoder: any Encoder) throws {
    var object = encoder.container(keyedBy: Key.self)
    try object.encode(uses, forKey: .uses)
    try object.encode(version, forKey: .version)
    if !libraries.isEmpty { try object.encode(libraries, forKey: .libraries) }
    try object.encode(parameters, forKey: .parameters)
    try object.encode(inputs, forKey: .inputs)
  }

  /// SHA-256 of the canonical JSON.
  func fingerprint() throws -> Digest {
    Digest(of: try JSONText.canonical(self))
  }
}

/// A build of the program, and the libraries that it uses.
public struct ProgramIdentity: Hashable, Sendable, Codable {
  public var version: String
  /// The commit from which it was built, followed by `+changes` if files had been changed; `nil` if
  /// unknown to the build.
  public var commit: String?
  /// Versions of FFmpeg's libraries and of libpng at run time.
  public var libraries: [String: String]

  public init(version: String, commit: String?, libraries: [String: String]) {
    self.version = version
    self.commit = commit
    self.libraries = libraries
  }

  /// The output of `--version`: the version alone on the first line, then one line each for what it
  /// was built from and what it uses.
  ///
  /// - Parameters:
  ///   - compiler: the Swift release that built it.
  ///   - processor: the processor features that the program uses.
  public func text(compiler: String, processor: String) -> String {
    let names = ["libavcodec", "libavformat", "libavutil", "libswscale", "libpng"]
    let known = names.filter { libraries[$0] != nil }
    let rest = libraries.keys.filter { !names.contains($0) }.sorted()
    return
      ([version, "commit \(commit ?? "unknown")", "Swift \(compiler)"]
      + (known + rest).map { "\($0) \(libraries[$0] ?? "")" }
      + ["processor \(processor)"]).joined(separator: "\n")
  }
}
