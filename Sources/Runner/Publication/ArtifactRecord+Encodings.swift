import Pipeline

extension ArtifactRecord {
  /// Payload kinds that a stage met while decoding, by stream name.
  var streamEncodings: [String: String] {
    guard case .object(let values)? = workedOut("streamEncodings") else { return [:] }
    return values.compactMapValues { if case .string(let text) = $0 { text } else { nil } }
  }
}
