import Core

/// How depth is brought onto the color grid. The defaults are those of the stage `aligned`.
public struct AlignmentParameters: Hashable, Sendable, Codable {
  /// What shape depth pixels are taken to have.
  public enum Surface: String, Hashable, Sendable, Codable, CaseIterable {
    /// Neighboring pixels are joined to triangles unless there is a discontinuity.
    case mesh
    /// Each depth pixel fills one output pixel, which leaves holes on a finer grid.
    case points
    /// Each depth pixel fills an upright box, as in other tools.
    case rectangle
  }

  /// The grid of the output.
  public enum Grid: String, Hashable, Sendable, Codable, CaseIterable {
    case color
    case halfColor = "color/2"
    case quarterColor = "color/4"
    /// The size of the depth picture, with the view of the color camera.
    case depth
  }

  public var surface = Surface.mesh
  public var grid = Grid.color
  /// Meters ≥ 0. The depths of a triangle's corners may differ by this plus the relative part.
  public var discontinuityAbsolute = 0.010
  /// Fraction ≥ 0 of the smallest depth of the triangle's corners.
  public var discontinuityRelative = 0.05
  /// Meters > 0. Points with a smaller Z in the color camera are not used.
  public var minimumDepth = 0.001

  public init() {}

  public init(
    surface: Surface = .mesh, grid: Grid = .color, discontinuityAbsolute: Double = 0.010,
    discontinuityRelative: Double = 0.05, minimumDepth: Double = 0.001
  ) {
    self.surface = surface
    self.grid = grid
    self.discontinuityAbsolute = discontinuityAbsolute
    self.discontinuityRelative = discontinuityRelative
    self.minimumDepth = minimumDepth
  }

  func validate() throws(AlignmentError) {
    let atLeastZero = [
      ("discontinuityAbsolute", discontinuityAbsolute),
      ("discontinuityRelative", discontinuityRelative),
    ]
    for (key, value) in atLeastZero where !(value >= 0 && value.isFinite) {
      throw .invalidValue(CalibrationFault(key: key, value: "\(value)", rule: "0 or more, finite"))
    }
    guard minimumDepth > 0, minimumDepth.isFinite else {
      throw .invalidValue(
        CalibrationFault(key: "minimumDepth", value: "\(minimumDepth)", rule: "above 0 and finite"))
    }
  }
}
