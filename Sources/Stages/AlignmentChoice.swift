import Pipeline
import Processing

/// The parameters of an alignment that its directions share.
enum AlignmentChoice {
  static let standard = AlignmentParameters()

  /// - Parameters:
  ///   - absolute: what the absolute part of the discontinuity decides.
  ///   - fraction: of which depth the relative part is a fraction.
  static func parameters(absolute: String, fraction: String) -> [ParameterDescription] {
    [
      ParameterDescription(
        "discontinuityAbsolute", .length(0...65.535),
        default: .length(meters: standard.discontinuityAbsolute), absolute),
      ParameterDescription(
        "discontinuityRelative", .number(0...1000),
        default: .number(standard.discontinuityRelative),
        "Fraction of \(fraction), see discontinuityAbsolute."),
      ParameterDescription(
        "minimumDepth", .length(1e-9...65.535), default: .length(meters: standard.minimumDepth),
        "Points nearer to the color camera are not used."),
    ]
  }

  /// What was chosen; surface and grid are for the caller, who may have no such parameter.
  static func values(
    _ values: ParameterValues, surface: AlignmentParameters.Surface = standard.surface,
    grid: AlignmentParameters.Grid = standard.grid
  ) -> AlignmentParameters {
    AlignmentParameters(
      surface: surface, grid: grid,
      discontinuityAbsolute: values.meters("discontinuityAbsolute")
        ?? standard.discontinuityAbsolute,
      discontinuityRelative: values.number("discontinuityRelative")
        ?? standard.discontinuityRelative,
      minimumDepth: values.meters("minimumDepth") ?? standard.minimumDepth)
  }
}
