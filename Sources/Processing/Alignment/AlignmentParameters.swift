import Geometry

/// How depth is brought onto the color grid. The defaults are those of the stage `aligned`.
public struct AlignmentParameters: Hashable, Sendable, Codable {
  /// What the depth pixels are taken for.
  public enum Surface: String, Hashable, Sendable, Codable, CaseIterable {
    /// Neighbors joined to triangles unless there is a discontinuity.
    case mesh
    /// One output pixel for each depth pixel: leaves holes on a finer grid.
    case points
    /// An upright box for each depth pixel, as other tools do it.
    case rectangle
  }

  /// The grid of the output.
  public enum Grid: String, Hashable, Sendable, Codable, CaseIterable {
    case color
    case halfColor = "color/2"
    case quarterColor = "color/4"
    /// The size of the depth picture, seen from the color camera.
    case depth
  }

  public var surface = Surface.mesh
  public var grid = Grid.color
  /// Meters ≥ 0. Depths of a triangle may differ by this plus the relative part.
  public var discontinuityAbsolute = 0.010
  /// Fraction ≥ 0 of the nearest of the triangle's depths.
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
