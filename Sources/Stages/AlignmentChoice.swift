import Captures
import Engine
import Processing
import SystemPackage

/// A stage that relates depth to color. It reads depth frames from another stage, and only the
/// calibration from the capture.
protocol AlignmentStage: Stage {}

extension AlignmentStage {
  public static func reads(
    _ parameters: ParameterValues, connected ports: Set<String>
  ) -> Set<CapturePart> { [.calibration] }

  public static func fileProblems(_ parameters: ParameterValues) -> [StageProblem] {
    CalibrationChoice.fileProblems(pathProblems(parameters), parameters)
  }

  public static func externalFiles(
    _ parameters: ParameterValues, _ capture: CaptureSummary
  ) -> [String: FilePath] { CalibrationChoice.externalFiles(parameters, capture) }

  public static func applicability(
    _ parameters: ParameterValues, _ capture: CaptureSummary
  ) -> Applicability { CalibrationChoice.applicability(parameters, capture) }
}

/// The parameters that alignment stages in both directions share: discontinuities, calibration and
/// compression.
enum AlignmentChoice {
  static let standard = AlignmentParameters()

  /// - Parameters:
  ///   - absolute: describes what the absolute part of the discontinuity decides.
  ///   - fraction: describes of which depth the relative part is a fraction.
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
    ] + CalibrationChoice.parameters + [CommonParameters.compression]
  }

  /// The set parameters that discard depth, as text.
  static func settings(_ values: ParameterValues) -> String {
    values.settings(["minimumDepth", "discontinuityAbsolute", "discontinuityRelative"])
  }

  /// The alignment parameters; the caller sets surface and grid, which not every stage has.
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
