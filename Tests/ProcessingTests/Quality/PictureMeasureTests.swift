@testable import Processing
import Testing

@Suite("What a picture shows of its own quality")
struct PictureMeasureTests {
  /// A picture with one value of brightness per pixel.
  private func gray(
    _ width: Int, _ height: Int, _ value: (_ x: Int, _ y: Int) -> UInt8
  ) throws -> PictureMeasure {
    var rgb: [UInt8] = []
    for y in 0..<height {
      for x in 0..<width { rgb += [UInt8](repeating: value(x, y), count: 3) }
    }
    return try #require(PictureMeasure(rgb: rgb, width: width, height: height))
  }

  @Test("An even picture has no sharpness, stripes have that of their Laplacian")
  func known() throws {
    #expect(try gray(64, 48) { _, _ in 90 }.sharpness == 0)
    // Columns 100 and 110 in turn: each differs from both neighbors by 10, so the Laplacian is ±20.
    #expect(try gray(66, 48) { x, _ in x % 2 == 0 ? 100 : 110 }.sharpness == 400)
  }

  @Test("Black and white in turn, the largest Laplacian, overflows nothing in wide pictures")
  func largest() {
    let (width, height) = (9002, 4)
    let gray = (0..<width * height).map { index -> UInt8 in
      (index / width + index % width) % 2 == 0 ? 0 : 255
    }
    // 9,000 × 2 values of ±1,020, as many of each.
    #expect(Sharpness(gray: gray, width: width, height: height).variance == 1020 * 1020)
  }

  @Test("The same picture in twice the size has the same sharpness, once it is reduced")
  func scale() throws {
    let small = try gray(640, 30) { x, y in UInt8((x * 7 + y * 13) % 200) }
    let large = try gray(1280, 60) { x, y in UInt8((x / 2 * 7 + y / 2 * 13) % 200) }
    #expect(small.sharpness == large.sharpness)
    #expect(small.fingerprint == large.fingerprint)
  }

  @Test("A blurred picture is less sharp, the more the wider the blur")
  func blur() throws {
    let values = try [1, 2, 4, 8, 16].map { width in
      try gray(320, 40) { x, y in
        let sum = (0..<width).reduce(0) { $0 + ((x + $1) / 9 + y / 9) % 2 * 200 }
        return UInt8(sum / width)
      }.sharpness
    }
    #expect(values == values.sorted(by: >))
    #expect(values[0] > 3 * values[4])
  }

  @Test("Clipped parts are counted where all channels are black, or one is full")
  func clipped() throws {
    let half = try gray(64, 48) { x, _ in x < 32 ? 0 : 128 }
    #expect((half.darkShare, half.brightShare) == (0.5, 0))
    let quarter = try gray(64, 48) { x, y in x < 32 && y < 24 ? 255 : 128 }
    #expect((quarter.darkShare, quarter.brightShare) == (0, 0.25))
    let blue = try #require(
      PictureMeasure(
        rgb: [UInt8](repeating: 0, count: 9 * 27).enumerated().map { $0.offset % 3 == 2 ? 255 : 0 },
        width: 9, height: 9))
    #expect((blue.darkShare, blue.brightShare) == (0, 1))
  }

  @Test("One changed level changes the fingerprint")
  func fingerprint() throws {
    let one = try gray(40, 30) { x, y in UInt8(x + y) }
    let other = try gray(40, 30) { x, y in UInt8(x + y + (x == 20 && y == 20 ? 1 : 0)) }
    #expect(one.fingerprint != other.fingerprint)
  }

  @Test(
    "Bytes that are not those of the size are no picture",
    arguments: [(2, 9, 54), (9, 9, 242), (9, 9, 244), (0, 0, 0), (4000, 1, 12_000)])
  func refused(width: Int, height: Int, bytes: Int) {
    #expect(
      PictureMeasure(rgb: [UInt8](repeating: 1, count: bytes), width: width, height: height) == nil)
  }
}
