import Captures

/// The one reader of verdicts on the quality of captures.
extension ArtifactRecord {
  /// The verdict that the stage recorded; `nil` for a stage of another kind, and where it cannot be understood.
  package var quality: CaptureQuality? {
    typealias Key = CaptureQuality.Key
    guard uses == CaptureQuality.stageKind,
      let verdict = Self.level(recorded[Key.verdict.rawValue]),
      case .array(let reasons)? = recorded[Key.reasons.rawValue],
      case .object(let judged)? = recorded[Key.judged.rawValue]
    else { return nil }
    return CaptureQuality(
      verdict: verdict, pictures: Self.pictures(recorded[Key.pictures.rawValue]),
      reasons: reasons.compactMap { if case .string(let text) = $0 { text } else { nil } },
      judged: judged.compactMapValues { judged in
        guard case .object(let members) = judged,
          let level = Self.level(members[Key.level.rawValue])
        else { return nil }
        // JSON writes 1.0 as 1.
        switch members[Key.value.rawValue] {
        case .number(let value): return CaptureQuality.Judged(value: value, level: level)
        case .integer(let value):
          return CaptureQuality.Judged(value: Double(value), level: level)
        default: return level == .unjudged ? CaptureQuality.Judged(value: nil, level: level) : nil
        }
      })
  }

  private static func pictures(_ value: JSONValue?) -> CaptureQuality.Pictures? {
    guard case .object(let members)? = value,
      case .integer(let judged)? = members[CaptureQuality.Key.judged.rawValue],
      case .integer(let all)? = members[CaptureQuality.Key.of.rawValue]
    else { return nil }
    return CaptureQuality.Pictures(
      judged: Int(clamping: judged), of: Int(clamping: all))
  }

  private static func level(_ value: JSONValue?) -> CaptureQuality.Level? {
    guard case .string(let name)? = value else { return nil }
    return CaptureQuality.Level(rawValue: name)
  }
}

extension [ArtifactRecord] {
  /// The verdict that counts, of records in the order of the pipeline: that of the stage with the usual name, else
  /// the first.
  package var quality: CaptureQuality? {
    first { $0.stage == CaptureQuality.usualStage && $0.quality != nil }?.quality
      ?? lazy.compactMap(\.quality).first
  }
}
