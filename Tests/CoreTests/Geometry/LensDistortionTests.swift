@testable import Core
import TestSupport
import Testing

@Suite("Lens distortion")
struct LensDistortionTests {
  /// The lens equation written out with powers, apart from the code under test.
  static func direct(_ k: LensDistortion, _ x: Double, _ y: Double) -> (x: Double, y: Double) {
    let r = (x * x + y * y).squareRoot()
    let r2 = r * r
    let r4 = r2 * r2
    let r6 = r4 * r2
    let g = (1 + k.k1 * r2 + k.k2 * r4 + k.k3 * r6) / (1 + k.k4 * r2 + k.k5 * r4 + k.k6 * r6)
    return (
      x * g + 2 * k.p1 * x * y + k.p2 * (r2 + 2 * x * x),
      y * g + k.p1 * (r2 + 2 * y * y) + 2 * k.p2 * x * y
    )
  }

  @Test("A point lands where the lens equation says")
  func matchesTheEquation() {
    var generator = SeededGenerator(seed: 1)
    for camera in LensExamples.all {
      for _ in 0..<200 {
        let x = Double.random(in: -1...1, using: &generator)
        let y = Double.random(in: -1...1, using: &generator)
        let expected = Self.direct(camera.distortion, x, y)
        let found = camera.distortion.distorted(x: x, y: y)
        #expect(abs(found.x - expected.x) < 1e-12)
        #expect(abs(found.y - expected.y) < 1e-12)
      }
    }
  }

  @Test("Coefficients in OpenCV's order land on their own terms")
  func openCVOrder() {
    // One coefficient at a time at (0.5, 0.25): r² = 0.3125.
    let expected: [(Double, Double)] = [
      (0.5 * 0.3125, 0.25 * 0.3125),  // k1
      (0.5 * 0.09765625, 0.25 * 0.09765625),  // k2
      (0.25, 0.3125 + 0.125),  // p1
      (0.3125 + 0.5, 0.25),  // p2
      (0.5 * 0.030517578125, 0.25 * 0.030517578125),  // k3
      (0.5 / 1.3125 - 0.5, 0.25 / 1.3125 - 0.25),  // k4
      (0.5 / 1.09765625 - 0.5, 0.25 / 1.09765625 - 0.25),  // k5
      (0.5 / 1.030517578125 - 0.5, 0.25 / 1.030517578125 - 0.25),  // k6
    ]
    for (index, shift) in expected.enumerated() {
      var list = [Double](repeating: 0, count: 8)
      list[index] = 1
      let found = LensDistortion(openCVOrder: list).distorted(x: 0.5, y: 0.25)
      #expect(abs(found.x - 0.5 - shift.0) < 1e-15, "coefficient \(index)")
      #expect(abs(found.y - 0.25 - shift.1) < 1e-15, "coefficient \(index)")
    }
  }

  @Test("A camera without lens terms projects like a pinhole")
  func pinhole() throws {
    let camera = LensExamples.pinhole
    let pixel = try #require(camera.projection(x: 0.4, y: -0.2, z: 2))
    #expect(abs(pixel.u - (577.87 * 0.2 + 319.5)) < 1e-12)
    #expect(abs(pixel.v - (577.87 * -0.1 + 239.5)) < 1e-12)
    #expect(camera.radiusLimit == .infinity)
  }

  @Test("What is not in front of the camera has no projection")
  func behind() {
    let camera = LensExamples.pinhole
    #expect(camera.projection(x: 0.1, y: 0.1, z: -2) == nil)
    #expect(camera.projection(x: 0.1, y: 0.1, z: 0) == nil)
    #expect(camera.projection(x: 0.1, y: 0.1, z: .nan) == nil)
    #expect(camera.projection(x: .nan, y: 0.1, z: 1) == nil)
  }

  @Test("A point beyond the radius limit is not folded back into the picture")
  func foldedPoint() {
    let camera = LensExamples.folding
    // At r = 2.4 the polynomial comes back to r g = -1.04 …, well inside the picture's range.
    #expect(camera.projection(x: 2.4, y: 0, z: 1) == nil)
    #expect(camera.projection(x: 1.14, y: 0, z: 1) != nil)
    #expect(camera.projection(x: 1.16, y: 0, z: 1) == nil)
  }
}
