@testable import Core
@testable import Processing
import TestSupport
import Testing

@Suite("Aligned depth against a slow reference in double precision")
struct AlignmentReferenceTests {
  @Test("The mesh of a random scene is the reference's", arguments: UInt64(0)..<120)
  func mesh(seed: UInt64) throws {
    let scene = RandomScene(seed: seed)
    let ours = try DepthAligner(calibration: scene.calibration, parameters: scene.parameters)
      .aligned(scene.depth)
    let reference = try ReferenceAligner(scene.calibration, scene.parameters).aligned(scene.depth)
    let result = PictureComparison(ours, reference)
    // Vertices are rounded to 1/512 pixel: a center that close to an outline may fall to either side.
    let pixels = Double(ours.millimeters.count)
    #expect(Double(result.differentCoverage) <= 2 + 3e-4 * pixels)
    #expect(Double(result.differentDepth) <= 1 + 1e-5 * pixels)
    #expect(result.equal > 0.95)
  }

  @Test("The random scenes cover every grid and zoom, each with and without lenses")
  func scenesCoverEverything() {
    var kinds: Set<String> = []
    for seed in UInt64(0)..<120 {
      let scene = RandomScene(seed: seed)
      kinds.insert(
        "\(scene.parameters.grid) \(scene.calibration.depthDistortion.isNone)"
          + " \(scene.calibration.depthDistortion.k4 != 0) \(scene.calibration.colorDistortion.k4 != 0)"
      )
    }
    for grid in AlignmentParameters.Grid.allCases {
      #expect(kinds.contains("\(grid) true false false"), "\(grid) without lenses")
      #expect(kinds.contains { $0.hasPrefix("\(grid) false") }, "\(grid) with lenses")
      #expect(
        kinds.contains { $0.hasPrefix("\(grid)") && $0.hasSuffix("true") }, "\(grid) rational")
    }
    #expect(kinds.contains { $0.contains("false true false") }, "depth rational, color not")
  }

  @Test(
    "Points and rectangles of a random scene are the reference's", arguments: UInt64(0)..<24,
    [AlignmentParameters.Surface.points, .rectangle])
  func splats(seed: UInt64, surface: AlignmentParameters.Surface) throws {
    let scene = RandomScene(seed: seed, surface: surface)
    let ours = try DepthAligner(calibration: scene.calibration, parameters: scene.parameters)
      .aligned(scene.depth)
    let reference = try ReferenceAligner(scene.calibration, scene.parameters).aligned(scene.depth)
    let result = PictureComparison(ours, reference)
    let pixels = Double(ours.millimeters.count)
    #expect(Double(result.differentCoverage) <= 1 + 1e-4 * pixels)
    #expect(Double(result.differentDepth) <= 1 + 1e-4 * pixels)
    #expect(result.equal > 0.97)
  }
}
