import Captures

extension ArtifactRecord {
  /// Payload kinds that a stage met while decoding, by stream name.
  var streamEncodings: [String: String] {
    guard case .object(let values)? = recorded["streamEncodings"] else { return [:] }
    return values.compactMapValues { if case .string(let text) = $0 { text } else { nil } }
  }

  /// Frames that a stage could not decode, by stream name; of a stage that lost none nothing is recorded.
  var frameHoles: [String: FrameHoles] {
    guard case .object(let values)? = recorded[FrameHoles.recordedName] else { return [:] }
    return values.compactMapValues { value in
      guard case .object(let counts) = value, case .integer(let lost)? = counts["lost"],
        case .integer(let frames)? = counts["frames"]
      else { return nil }
      return FrameHoles(lost: Int(clamping: lost), frames: Int(clamping: frames))
    }
  }
}

extension [String: FrameHoles] {
  /// Takes the larger loss where two stages have read one stream.
  mutating func take(_ record: ArtifactRecord) {
    merge(record.frameHoles) { $0.lostShare >= $1.lostShare ? $0 : $1 }
  }
}
