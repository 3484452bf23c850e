@testable import Core
@testable import Processing
import Testing

@Suite("Color sampled into the depth camera")
struct ColorSamplerTests {
  typealias Known = AlignmentGeometryTests

  /// Red rises along x, green along y, blue along both: a position can be read off its color.
  static func ramp(_ camera: PinholeCamera) -> ColorImage {
    var image = ColorImage(width: camera.width, height: camera.height)
    for y in 0..<camera.height {
      for x in 0..<camera.width {
        let at = 3 * (y * camera.width + x)
        image.rgb[at] = UInt8(x * 255 / camera.width)
        image.rgb[at + 1] = UInt8(y * 255 / camera.height)
        image.rgb[at + 2] = UInt8((3 * x + 5 * y) % 256)
      }
    }
    return image
  }

  /// Bilinear by its weights in double precision.
  static func reference(_ image: ColorImage, _ u: Double, _ v: Double) -> [Double] {
    let x = min(max(u, 0), Double(image.width - 1))
    let y = min(max(v, 0), Double(image.height - 1))
    return (0..<3).map { channel in
      var sum = 0.0
      for row in 0..<image.height where abs(Double(row) - y) < 1 {
        for column in 0..<image.width where abs(Double(column) - x) < 1 {
          let weight = (1 - abs(Double(column) - x)) * (1 - abs(Double(row) - y))
          sum += weight * Double(image.rgb[3 * (row * image.width + column) + channel])
        }
      }
      return sum
    }
  }

  static func sampled(
    _ sampler: ColorSampler, _ color: ColorImage, _ depth: DepthImage
  ) throws -> (picture: ColorImage, mask: GrayImage) {
    var scratch = ColorSamplerScratch()
    var picture = ColorImage(width: 0, height: 0)
    var mask = GrayImage(width: 0, height: 0, values: [])
    try sampler.sample(
      color, for: depth.millimeters.span, scratch: &scratch, into: &picture, mask: &mask)
    return (picture, mask)
  }

  @Test("Each depth pixel gets the color at its projection, interpolated", arguments: 0..<4)
  func positions(turns: Int) throws {
    let transform = RigidTransform(
      rotation: RandomScene.rotation(0.03, -0.02, 0.04), translation: [0.05, 0.01, 0.02])
    var calibration = Known.calibration(transform)
    calibration.colorDistortion = LensDistortion(openCVOrder: [-0.1, 0.02, 0.001, -0.001])
    var depth = Known.plane(1500)
    depth.millimeters[700] = 0
    let color = Self.ramp(Known.colorCamera)
    let stored = Self.turned(color, turns)
    let sampler = try ColorSampler(calibration: calibration, clockwiseQuarterTurns: turns)
    #expect(sampler.colorSize == PictureSize(width: stored.width, height: stored.height))
    let (picture, mask) = try Self.sampled(sampler, stored, depth)

    let from = ReferenceCamera(Known.depthCamera, .none)
    let to = ReferenceCamera(Known.colorCamera, calibration.colorDistortion)
    var sampled = 0
    for j in 0..<depth.height {
      for i in 0..<depth.width {
        let at = j * depth.width + i
        let ray = try #require(from.ray(Double(i), Double(j)))
        let pixel = to.project(transform.apply(to: [1.5 * ray.x, 1.5 * ray.y, 1.5]))
        guard let pixel, depth.millimeters[at] > 0, pixel.u >= -0.499, pixel.v >= -0.499,
          pixel.u < Double(color.width) - 0.501, pixel.v < Double(color.height) - 0.501
        else { continue }
        sampled += 1
        #expect(mask.values[at] == 255)
        for (channel, value) in Self.reference(color, pixel.u, pixel.v).enumerated() {
          // Blue wraps around: a step of 255 times a position error of 1e-3.
          #expect(abs(Double(picture.rgb[3 * at + channel]) - value) < 0.51 + 0.3)
        }
      }
    }
    #expect(sampled > 2000)
    #expect(mask.values[700] == 0)
    #expect(Array(picture.rgb[2100..<2103]) == [0, 0, 0])
  }

  @Test("What the color camera cannot see is empty")
  func occlusion() throws {
    // A board before a wall; the color camera stands to the right of the depth camera.
    let transform = RigidTransform(
      rotation: RigidTransform.identity.rotation, translation: [-0.2, 0, 0])
    var depth = Known.plane(3000)
    for j in 0..<48 {
      for i in 24..<36 { depth.millimeters[j * 64 + i] = 1000 }
    }
    let sampler = try ColorSampler(calibration: Known.calibration(transform))
    let (picture, mask) = try Self.sampled(sampler, Self.ramp(Known.colorCamera), depth)
    // The board moves 0.2 · 58.3 / 1 = 11.7 depth pixels to the left against 3.9 of the wall: wall
    // pixels up to 7.8 left of it are behind it.
    let row = Array(mask.values[(24 * 64)..<(25 * 64)])
    for i in 24..<36 { #expect(row[i] == 255) }
    for i in 18..<24 { #expect(row[i] == 0, "column \(i)") }
    for i in 6..<15 { #expect(row[i] == 255, "column \(i)") }
    for i in 40..<60 { #expect(row[i] == 255, "column \(i)") }
    for (index, value) in mask.values.enumerated() where value == 0 {
      #expect(picture.rgb[(3 * index)..<(3 * index + 3)].allSatisfy { $0 == 0 })
    }
  }

  @Test("A color picture of another size is refused")
  func wrongSize() throws {
    let sampler = try ColorSampler(calibration: Known.calibration())
    #expect(throws: AlignmentError.self) {
      try Self.sampled(sampler, ColorImage(width: 3, height: 3), Known.plane(1000))
    }
  }

  private static func turned(_ image: ColorImage, _ turns: Int) -> ColorImage {
    var image = image
    for _ in 0..<turns {
      var next = ColorImage(width: image.height, height: image.width)
      for y in 0..<image.height {
        for x in 0..<image.width {
          let (u, v) = (image.height - 1 - y, x)
          for c in 0..<3 {
            next.rgb[3 * (v * next.width + u) + c] = image.rgb[3 * (y * image.width + x) + c]
          }
        }
      }
      image = next
    }
    return image
  }
}

@Suite("Brightness")
struct LumaTests {
  @Test("is the rounded weighted sum for every color on a grid of colors, in integers")
  func grid() {
    var wrong = 0
    for red in stride(from: 0, through: 255, by: 5) {
      for green in stride(from: 0, through: 255, by: 3) {
        for blue in stride(from: 0, through: 255, by: 3) {
          let exact = (299 * red + 587 * green + 114 * blue + 500) / 1000
          let y = GrayConversion.luma(red: UInt8(red), green: UInt8(green), blue: UInt8(blue))
          if Int(y) != exact { wrong += 1 }
        }
      }
    }
    #expect(wrong == 0)
    #expect(GrayConversion.luma(red: 255, green: 255, blue: 255) == 255)
  }
}
