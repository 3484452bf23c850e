@testable import Core
import Testing

@Suite("Back-projection through a lens")
struct LensBackProjectionTests {
  @Test("Every pixel's ray projects back onto the pixel", arguments: LensExamples.all)
  func roundTrip(camera: LensCamera) {
    var rays = 0
    let size = camera.pinhole
    for j in stride(from: 0, to: size.height, by: 3) {
      for i in stride(from: 0, to: size.width, by: 3) {
        guard let ray = camera.ray(u: Double(i), v: Double(j)) else { continue }
        rays += 1
        guard let pixel = camera.projection(x: ray.x, y: ray.y, z: 1) else {
          Issue.record("the ray of (\(i), \(j)) is outside the camera")
          continue
        }
        #expect(abs(pixel.u - Double(i)) < 2e-5)
        #expect(abs(pixel.v - Double(j)) < 2e-5)
      }
    }
    // Every one of these lenses sees more than 95 % of its own picture.
    #expect(rays > (size.width / 3) * (size.height / 3) * 95 / 100)
  }

  @Test("A position the lens never reaches has no ray")
  func beyondTheLens() {
    // The map of this lens tops out at r g = 1.150754 (1 − 0.34 s + 0.04 s²) = 0.713.
    let camera = LensExamples.folding
    #expect(camera.ray(u: 160.8 + 243 * 0.70, v: 121.6) != nil)
    #expect(camera.ray(u: 160.8 + 243 * 0.72, v: 121.6) == nil)
    #expect(camera.ray(u: .nan, v: 0) == nil)
  }

  @Test("A solution just inside the radius limit is found")
  func closeToTheLimit() throws {
    let lens = LensExamples.folding.distortion
    let limit = lens.radiusLimit
    for share in [0.9, 0.99, 0.999] {
      let target = lens.distorted(x: share * limit * 0.6, y: share * limit * 0.8)
      let found = try #require(
        lens.undistorted(distortedX: target.x, distortedY: target.y, radiusLimit: limit))
      let radius = (found.x * found.x + found.y * found.y).squareRoot()
      #expect(abs(radius - share * limit) < 2e-4)
      #expect(radius < limit)
    }
  }
}
