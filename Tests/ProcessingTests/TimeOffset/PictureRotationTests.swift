@testable import Core
import Glibc
import Testing

@testable import Processing
@testable import Synthetic

@Suite("The rotation of a camera between two pictures")
struct PictureRotationTests {
  private static let size = (width: 320, height: 240)
  private static let focalLength = 250.0

  /// A smooth pattern far away, as a camera sees it that is turned by axis times angle.
  private static func picture(turned: SIMD3<Double>, gain: Double = 1) throws -> SmallPicture {
    let angle = (turned * turned).sum().squareRoot()
    let axis = angle > 0 ? turned / angle : SIMD3(0, 0, 1)
    var rgb: [UInt8] = []
    for row in 0..<size.height {
      for column in 0..<size.width {
        let ray = SIMD3(
          (Double(column) - Double(size.width - 1) / 2) / focalLength,
          (Double(row) - Double(size.height - 1) / 2) / focalLength, 1)
        // To the world: by the rotation of the camera.
        let seen =
          ray * cos(angle) + cross(axis, ray) * sin(angle)
          + axis * ((axis * ray).sum() * (1 - cos(angle)))
        let (x, y) = (seen.x / seen.z, seen.y / seen.z)
        let value =
          128 + gain
          * (40 * sin(9 * x + 2 * y) + 30 * sin(13 * y - 4 * x) + 20 * sin(21 * x * y + 5))
        let level = UInt8(min(255, max(0, value.rounded())))
        rgb += [level, level, level]
      }
    }
    return try #require(SmallPicture(rgb: rgb, width: size.width, height: size.height))
  }

  private static func cross(_ a: SIMD3<Double>, _ b: SIMD3<Double>) -> SIMD3<Double> {
    SIMD3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x)
  }

  @Test(
    "It is found about every axis and with its sign, for small and large angles",
    arguments: [
      SIMD3(0.002, 0, 0), SIMD3(0, -0.002, 0), SIMD3(0, 0, 0.004), SIMD3(0.03, -0.02, 0.05),
      SIMD3(-0.08, 0.06, -0.04), SIMD3(0.0003, 0.0002, -0.0004),
    ])
  func angles(turn: SIMD3<Double>) throws {
    let (first, second) = try (Self.picture(turned: .zero), Self.picture(turned: turn))
    let found = try #require(
      CameraTurn(
        from: first, at: Timestamp(nanoseconds: 0), to: second,
        at: Timestamp(nanoseconds: 1_000_000_000), focalLength: Self.focalLength))
    let rest = found.rate - turn
    let length = (turn * turn).sum().squareRoot()
    #expect((rest * rest).sum().squareRoot() < 0.0001 + 0.02 * length, "\(found.rate)")
  }

  @Test("Brightness and contrast may change between the two")
  func brightness() throws {
    let turn = SIMD3(0.004, 0.003, -0.005)
    let found = try #require(
      PictureRotation.between(
        Self.picture(turned: .zero), Self.picture(turned: turn, gain: 0.6),
        focalLength: Float(Self.focalLength / 4)))
    let rest = SIMD3<Double>(found) - turn
    #expect((rest * rest).sum().squareRoot() < 0.0004)
  }

  @Test("Pictures without contrast, of other sizes or of something else give none")
  func nothing() throws {
    let flat = [UInt8](repeating: 90, count: 320 * 240 * 3)
    #expect(SmallPicture(rgb: flat, width: 320, height: 240) == nil)
    #expect(SmallPicture(rgb: flat, width: 320, height: 241) == nil)
    #expect(SmallPicture(rgb: [1, 2, 3], width: 1, height: 1) == nil)
    #expect(SmallPicture(rgb: [], width: 0, height: 0) == nil)
    let picture = try Self.picture(turned: .zero)
    var random = SeededRandom(seed: 5, "noise")
    let noise = (0..<(320 * 240 * 3)).map { _ in UInt8(random.uniform(0...255)) }
    let other = try #require(SmallPicture(rgb: noise, width: 320, height: 240))
    #expect(PictureRotation.between(picture, other, focalLength: 60) == nil)
    let small = try #require(
      SmallPicture(rgb: Array(noise.prefix(40 * 30 * 3)), width: 40, height: 30))
    #expect(PictureRotation.between(picture, small, focalLength: 60) == nil)
    #expect(PictureRotation.between(picture, picture, focalLength: 0) == nil)
    #expect(PictureRotation.between(picture, picture, focalLength: .nan) == nil)
  }
}
