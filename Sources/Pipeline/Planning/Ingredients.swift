import Storage

/// Everything that decides the bytes of an artifact. Not in it: paths, host, cores, memory, time, job
/// count.
public struct Ingredients: Hashable, Sendable, Codable {
  public var uses: String
  public var version: Int
  public var parameters: [String: JSONValue]
  public var inputs: ArtifactRecord.Inputs

  public init(
    uses: String, version: Int, parameters: [String: JSONValue], inputs: ArtifactRecord.Inputs
  ) {
    self.uses = uses
    self.version = version
    self.parameters = parameters
    self.inputs = inputs
  }

  /// SHA-256 of the canonical JSON.
  public func fingerprint() throws -> Digest {
    Digest(of: try JSONText.canonical(self))
  }
}
