import TestSupport
import Testing

@testable import Processing

@Suite("What a picture is picked by")
struct PictureLookTests {
  @Test("The means of blocks, rounded to nearest; what is no whole block is left out")
  func blocks() throws {
    let values = (0..<35).map { UInt8($0) }  // 7 × 5
    let halved = try #require(BlockReduction.reduce(values, width: 7, height: 5, by: 2))
    // (0 + 1 + 7 + 8) / 4 = 4, then 2 more per block and 14 more per row of blocks.
    #expect(halved.values == [4, 6, 8, 18, 20, 22])
    #expect((halved.width, halved.height) == (3, 2))
    // A side that is shorter than the factor is one block.
    let flat = try #require(
      BlockReduction.reduce([1, 2, 3, 4, 250, 255], width: 6, height: 1, by: 3))
    #expect(flat.values == [2, 170] && flat.height == 1)
    #expect(
      try #require(BlockReduction.reduce(values, width: 7, height: 5, by: 1)).values == values)
  }

  @Test("They are those of a plain loop, for every factor, also where 16 bits do not hold a sum")
  func plain() throws {
    var random = SeededGenerator(seed: 3)
    for factor in [2, 3, 4, 5, 7, 16, 17, 40, 200, 256] {
      let (width, height) = (2 * factor + 1, factor + factor / 2)
      for rgb in [false, true] {
        let bytes = (0..<width * height * (rgb ? 3 : 1)).map { _ in
          UInt8.random(in: random.chance(2) ? 0...255 : 246...255, using: &random)
        }
        var expected: [UInt8] = []
        for column in 0..<2 {
          var sums = [0, 0, 0]
          for y in 0..<factor {
            for x in 0..<factor {
              let pixel = y * width + column * factor + x
              if rgb {
                for channel in 0..<3 { sums[channel] += Int(bytes[3 * pixel + channel]) }
              } else {
                sums[0] += Int(bytes[pixel])
              }
            }
          }
          let area = factor * factor
          let weighted = rgb ? 77 * sums[0] + 150 * sums[1] + 29 * sums[2] : 256 * sums[0]
          let half = rgb ? 128 * area : 256 * (area / 2)
          expected.append(UInt8((weighted + half) / (256 * area)))
        }
        if rgb {
          let found = try #require(
            BlockReduction.brightness(
              rgb: bytes, width: width, height: height, by: factor, darkLevel: 5,
              brightLevel: 250))
          #expect(found.gray == expected && found.width == 2 && found.height == 1, "\(factor)")
          let middles = (0..<2).map { factor / 2 * width + $0 * factor + factor / 2 }
            .map { bytes[3 * $0..<3 * $0 + 3] }
          #expect(found.bright == middles.count { ($0.max() ?? 0) >= 250 }, "\(factor)")
          #expect(found.dark == middles.count { ($0.max() ?? 0) <= 5 }, "\(factor)")
        } else {
          let found = try #require(
            BlockReduction.reduce(bytes, width: width, height: height, by: factor))
          #expect(found.values == expected, "\(factor)")
        }
      }
    }
  }

  @Test("Values that are not those of the size, and factors that are none, give nothing")
  func refused() {
    let values = [UInt8](repeating: 0, count: 12)
    for (width, height, factor) in [
      (4, 4, 2), (0, 3, 2), (3, 0, 2), (4, 3, 0), (4, 3, 257), (-4, -3, 2), (.max, 2, 2),
    ] {
      #expect(BlockReduction.reduce(values, width: width, height: height, by: factor) == nil)
      #expect(
        BlockReduction.brightness(
          rgb: values, width: width, height: height, by: factor, darkLevel: 5, brightLevel: 250)
          == nil)
    }
    #expect(PictureLook(gray: values, width: 5, height: 3) == nil)
    #expect(PictureLook(rgb: Array(values.prefix(11)), width: 2, height: 2) == nil)
  }

  @Test("It means the same for a picture and one of twice the size, and for gray in three channels")
  func scale() throws {
    func picture(_ scale: Int) -> [UInt8] {
      (0..<640 * scale * 32 * scale).map { index in
        let (x, y) = (index % (640 * scale) / scale, index / (640 * scale) / scale)
        return UInt8((x * 7 + y * 13) % 200)
      }
    }
    let small = try #require(PictureLook(gray: picture(1), width: 640, height: 32))
    let large = try #require(PictureLook(gray: picture(2), width: 1280, height: 64))
    #expect(small.sharpness == large.sharpness && small.outline == large.outline)
    let rgb = try #require(
      PictureLook(rgb: picture(1).flatMap { [$0, $0, $0] }, width: 640, height: 32))
    #expect(rgb.sharpness == small.sharpness && rgb.outline == small.outline)
  }

  @Test("A picture of one pixel can be looked at: it has no sharpness")
  func tiny() throws {
    let look = try #require(PictureLook(gray: [9], width: 1, height: 1))
    #expect(look.sharpness.variance == 0 && look.outline.change(to: look.outline) == 0)
  }
}
