@testable import Core
@testable import Processing
import Testing

@Suite("Aligned depth on many threads")
struct AlignmentConcurrencyTests {
  @Test(
    "Row bands give the same bytes as the whole frame", arguments: UInt64(0)..<24,
    AlignmentParameters.Surface.allCases)
  func bands(seed: UInt64, surface: AlignmentParameters.Surface) throws {
    let scene = RandomScene(seed: seed, surface: surface)
    let aligner = try DepthAligner(
      calibration: scene.calibration, parameters: scene.parameters,
      clockwiseQuarterTurns: Int(seed % 3))
    var scratch = AlignmentScratch()
    var whole: [UInt16] = []
    var banded: [UInt16] = []
    try aligner.align(scene.depth.millimeters, scratch: &scratch, into: &whole)
    for bands in [0, 1, 2, 3, 7, 1000] {
      try aligner.align(
        scene.depth.millimeters.span, bands: bands, scratch: &scratch, into: &banded)
      #expect(banded == whole, "\(bands) bands")
    }
  }

  @Test("One aligner used by many threads gives each the bytes it gives to one")
  func threads() throws {
    let scenes = (0..<4).map { RandomScene(seed: $0) }
    let aligners = try scenes.map {
      try DepthAligner(calibration: $0.calibration, parameters: $0.parameters)
    }
    let expected = try zip(aligners, scenes).map { try $0.aligned($1.depth).millimeters }
    let results = try concurrentMap(count: 64) { index in
      // Each worker's scratch meets all sizes in turn.
      var scratch = AlignmentScratch()
      var output: [UInt16] = []
      return try (0..<4).map { turn in
        let scene = (index + turn) % 4
        try aligners[scene].align(scenes[scene].depth.millimeters, scratch: &scratch, into: &output)
        return output == expected[scene]
      }
    }
    #expect(results.allSatisfy { $0.allSatisfy { $0 } })
  }
}
