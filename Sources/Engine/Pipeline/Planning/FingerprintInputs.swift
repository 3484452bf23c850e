import Core

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
