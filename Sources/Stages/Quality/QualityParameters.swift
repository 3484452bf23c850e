import Engine
import Processing

/// The parameters of `MeasureQuality`: what counts as blurred or clipped, and two limits per subject of
/// the verdict.
enum QualityParameters {
  private static let usual: [(subject: QualityVerdict.Subject, usable: Double, poor: Double)] = [
    (.blurred, 0.2, 0.5), (.clipped, 0.2, 0.5), (.duplicates, 0.05, 0.3),
    (.depthMissing, 0.5, 0.8), (.depthDisagreement, 15, 50), (.rotationDisagreement, 0.3, 1),
  ]

  static let all: [ParameterDescription] =
    [
      ParameterDescription(
        "blurredBelow", .number(0...1), default: .number(0.5),
        "A picture counts as blurred below this part of the sharpness of the pictures around it."),
      ParameterDescription(
        "blurSigma", .number(0...1000), default: .number(2.6),
        "A picture also counts as blurred if its own blur is wider than this: the sigma of a Gaussian, of a picture of "
          + "1,920 pixels."
      ).measured(in: "px"),
      ParameterDescription(
        "softSigma", .number(0...1000), default: .number(1.8),
        "A picture is called soft in the table if its own blur is wider than this. The verdict does not count it."
      ).measured(in: "px"),
      ParameterDescription(
        "blurPixels", .number(0...10_000), default: .number(4),
        "A picture also counts as blurred if the camera turned by more than this while it was exposed."
      ).measured(in: "px"),
      ParameterDescription(
        "clippedAbove", .number(0...1), default: .number(0.4),
        "A picture counts as clipped if more than this part of it is black or white."),
    ]
    + usual.flatMap { subject, usable, poor in
      [
        limit(subject, .usable, usable), limit(subject, .poor, poor),
      ]
    }

  static func thresholds(_ values: ParameterValues) -> QualityVerdict.Thresholds {
    var thresholds = QualityVerdict.Thresholds(
      limits: Dictionary(
        uniqueKeysWithValues: usual.map { subject, usable, poor in
          (
            subject,
            QualityVerdict.Limits(
              usable: values.number(name(subject, .usable)) ?? usable,
              poor: values.number(name(subject, .poor)) ?? poor)
          )
        }))
    thresholds.blurredBelow = values.number("blurredBelow") ?? thresholds.blurredBelow
    thresholds.blurSigma = values.number("blurSigma") ?? thresholds.blurSigma
    thresholds.softSigma = values.number("softSigma") ?? thresholds.softSigma
    thresholds.blurPixels = values.number("blurPixels") ?? thresholds.blurPixels
    thresholds.clippedAbove = values.number("clippedAbove") ?? thresholds.clippedAbove
    return thresholds
  }

  /// A limit for `usable` that is above that for `poor` would never be reached.
  static func problems(_ stage: StageDefinition) -> [StageProblem] {
    usual.compactMap { subject, _, _ in
      guard let usable = stage.parameters.number(name(subject, .usable)),
        let poor = stage.parameters.number(name(subject, .poor)), usable > poor
      else { return nil }
      return StageProblem(
        parameter: name(subject, .usable),
        "\(name(subject, .usable)) \(usable) is above \(name(subject, .poor)) \(poor)")
    }
  }

  /// `blurredUsable`, `blurredPoor`.
  static func name(
    _ subject: QualityVerdict.Subject, _ level: QualityVerdict.Level
  ) -> String {
    subject.rawValue + (level == .poor ? "Poor" : "Usable")
  }

  private static func limit(
    _ subject: QualityVerdict.Subject, _ level: QualityVerdict.Level, _ standard: Double
  ) -> ParameterDescription {
    ParameterDescription(
      name(subject, level), .number(0...100_000), default: .number(standard),
      "Above this the verdict is \(level.rawValue): \(subject.meaning).")
  }
}
