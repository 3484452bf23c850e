import Captures
import Engine
import Processing

extension CaptureQuality {
  /// The verdict as it is recorded and shown.
  init(
    _ verdict: QualityVerdict, _ thresholds: QualityVerdict.Thresholds, pictures: Pictures?
  ) {
    self.init(
      verdict: Level(verdict.level), pictures: pictures,
      reasons: verdict.reasons.map { QualityText.reason($0, thresholds) },
      judged: Dictionary(
        verdict.findings.map {
          ($0.subject.rawValue, Judged(value: $0.value, level: Level($0.level)))
        }, uniquingKeysWith: { first, _ in first }))
  }

  /// What the record of the stage holds of it. `ArtifactRecord.quality` reads it.
  var recorded: [String: JSONValue] {
    var recorded: [String: JSONValue] = [
      Key.verdict.rawValue: .string(verdict.rawValue),
      Key.reasons.rawValue: .array(reasons.map(JSONValue.string)),
      Key.judged.rawValue: .object(
        judged.mapValues {
          var judged: [String: JSONValue] = [Key.level.rawValue: .string($0.level.rawValue)]
          judged[Key.value.rawValue] = $0.value.map(JSONValue.number)
          return .object(judged)
        }),
    ]
    recorded[Key.pictures.rawValue] = pictures.map {
      .object([
        Key.judged.rawValue: .integer(Int64($0.judged)), Key.of.rawValue: .integer(Int64($0.of)),
      ])
    }
    return recorded
  }
}

extension CaptureQuality.Level {
  init(_ level: QualityVerdict.Level) {
    switch level {
    case .good: self = .good
    case .unjudged: self = .unjudged
    case .usable: self = .usable
    case .poor: self = .poor
    }
  }
}
