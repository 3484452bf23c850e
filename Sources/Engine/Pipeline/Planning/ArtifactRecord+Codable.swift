import Captures
import Core

extension ArtifactRecord {
  private enum Key: String, CodingKey {
    case schema, stage, uses, version, libraries, program, fingerprint, parameters, recorded, inputs
    case outputs, outputDigest, started, finished, seconds, cpuSeconds, peakMemoryBytes, frames
    case warnings, problems
  }

  /// The key `parameters` of the file also lists values that the stage computed, where readers of
  /// the artifact expect them; `recorded` lists the names of those.
  public init(from decoder: any Decoder) throws {
    let object = try decoder.container(keyedBy: Key.self)
    schema = try object.decode(Int.self, forKey: .schema)
    stage = try object.decode(String.self, forKey: .stage)
    uses = try object.decode(String.self, forKey: .uses)
    version = try object.decode(Int.self, forKey: .version)
    libraries = try object.decodeIfPresent([String: String].self, forKey: .libraries) ?? [:]
    program = try object.decodeIfPresent(ProgramIdentity.self, forKey: .program)
    fingerprint = try object.decode(Digest.self, forKey: .fingerprint)
    parameters = try object.decode([String: JSONValue].self, forKey: .parameters)
    recorded = try object.decode([String: JSONValue].self, forKey: .recorded)
    for name in recorded.keys { parameters[name] = nil }
    inputs = try object.decode(Inputs.self, forKey: .inputs)
    outputs = try object.decode([OutputEntry].self, forKey: .outputs)
    outputDigest = try object.decode(Digest.self, forKey: .outputDigest)
    started = try object.decode(String.self, forKey: .started)
    finished = try object.decode(String.self, forKey: .finished)
    seconds = try object.decode(Double.self, forKey: .seconds)
    cpuSeconds = try object.decode(Double.self, forKey: .cpuSeconds)
    peakMemoryBytes = try object.decode(Int64.self, forKey: .peakMemoryBytes)
    frames = try object.decode(Int.self, forKey: .frames)
    warnings = try object.decode([CaptureWarning].self, forKey: .warnings)
    problems = try object.decodeIfPresent([String].self, forKey: .problems) ?? []
  }

  public func encode(to encoder: any Encoder) throws {
    var object = encoder.container(keyedBy: Key.self)
    try object.encode(schema, forKey: .schema)
    try object.encode(stage, forKey: .stage)
    try object.encode(uses, forKey: .uses)
    try object.encode(version, forKey: .version)
    if !libraries.isEmpty { try object.encode(libraries, forKey: .libraries) }
    try object.encodeIfPresent(program, forKey: .program)
    try object.encode(fingerprint, forKey: .fingerprint)
    try object.encode(
      parameters.merging(recorded) { effective, _ in effective }, forKey: .parameters)
    try object.encode(recorded, forKey: .recorded)
    try object.encode(inputs, forKey: .inputs)
    try object.encode(outputs, forKey: .outputs)
    try object.encode(outputDigest, forKey: .outputDigest)
    try object.encode(started, forKey: .started)
    try object.encode(finished, forKey: .finished)
    try object.encode(seconds, forKey: .seconds)
    try object.encode(cpuSeconds, forKey: .cpuSeconds)
    try object.encode(peakMemoryBytes, forKey: .peakMemoryBytes)
    try object.encode(frames, forKey: .frames)
    try object.encode(warnings, forKey: .warnings)
    if !problems.isEmpty { try object.encode(problems, forKey: .problems) }
  }

  /// Whether the fingerprint matches the content of the record. Cost: one canonical JSON and its SHA-256.
  var isSound: Bool {
    let listed = FingerprintInputs(
      uses: uses, version: version, libraries: libraries, parameters: parameters, inputs: inputs)
    return (try? listed.fingerprint()) == fingerprint
  }
}
