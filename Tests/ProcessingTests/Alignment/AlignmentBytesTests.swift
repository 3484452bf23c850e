@testable import Core
@testable import Processing
import Testing

/// Aligned depth is published under a fingerprint of its inputs: a faster kernel may not change a bit.
@Suite("The bytes of aligned depth")
struct AlignmentBytesTests {
  @Test("Random scenes give the same pictures as the first kernel that drew them, bit for bit")
  func digests() throws {
    // FNV-1a over the digests of 120 scenes with every surface: zooms from 0.6 to 14, lenses, holes, steep
    // surfaces, cameras turned and far apart, all grids.
    var all = Digest()
    var scratch = AlignmentScratch()
    var output: [UInt16] = []
    for seed in UInt64(0)..<120 {
      for surface in AlignmentParameters.Surface.allCases {
        let scene = RandomScene(seed: seed, surface: surface)
        let aligner = try DepthAligner(
          calibration: scene.calibration, parameters: scene.parameters)
        try aligner.align(scene.depth.millimeters, scratch: &scratch, into: &output)
        var one = Digest()
        for value in output { one.add(UInt64(value)) }
        all.add(one.value)
      }
    }
    #expect(all.value == 0xf1d6_e90c_0dbc_583f)
  }

  @Test(
    "Quads of two by two pixels in rows of neighbors, and such with gaps, fill a plane without cracks"
  )
  func plane() throws {
    for zoom in [1.5, 2, 2.05, 2.5, 2.95] {
      let depth = PinholeCamera(width: 41, height: 31, fx: 40, fy: 40, cx: 20, cy: 15)
      let color = PinholeCamera(
        width: Int(41 * zoom), height: Int(31 * zoom), fx: 40 * zoom, fy: 40 * zoom,
        cx: 20.5 * zoom - 0.5, cy: 15.5 * zoom - 0.5)
      let aligner = try DepthAligner(
        calibration: DepthCalibration(
          registered: false, colorFromDepth: .identity, depthIntrinsics: depth,
          colorIntrinsics: color))
      var scratch = AlignmentScratch()
      var output: [UInt16] = []
      try aligner.align(
        [UInt16](repeating: 1500, count: 41 * 31), scratch: &scratch, into: &output)
      let margin = Int(zoom.rounded(.up))
      for y in margin..<(color.height - margin) {
        for x in margin..<(color.width - margin) {
          #expect(output[y * color.width + x] == 1500, "(\(x), \(y)) at \(zoom)")
        }
      }
    }
  }
}

private struct Digest {
  private(set) var value: UInt64 = 14_695_981_039_346_656_037

  mutating func add(_ word: UInt64) { value = (value ^ word) &* 1_099_511_628_211 }
}
