import Geometry
import Processing
import Testing

@Suite("Aligned depth against a slow reference in double precision")
struct AlignmentReferenceTests {
  @Test("The mesh of a random scene is the reference's", arguments: UInt64(0)..<64)
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
