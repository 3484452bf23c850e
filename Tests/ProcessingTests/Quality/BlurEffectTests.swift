@testable import Processing
import Testing

@Suite("How little a picture changes when it is blurred once more")
struct BlurEffectTests {
  private static let (width, height) = (200, 120)

  /// Tiles of 25 pixels with seeded brightness, smeared over `across` and `down` pixels.
  private static func tiles(across: Int = 1, down: Int = 1) -> [UInt8] {
    func brightness(_ x: Int, _ y: Int) -> Int { ((x / 25) * 97 + (y / 25) * 61) % 200 + 20 }
    return (0..<width * height).map { index in
      let (x, y) = (index % width, index / width)
      var sum = 0
      for column in 0..<across { for row in 0..<down { sum += brightness(x + column, y + row) } }
      return UInt8(sum / (across * down))
    }
  }

  private static func effect(_ gray: [UInt8]) throws -> Double {
    try #require(BlurEffect(gray: gray, width: width, height: height)).value
  }

  /// The definition: the picture is blurred, and differences are compared.
  private static func slow(_ gray: [UInt8]) -> Double {
    func direction(_ count: Int, _ lines: Int, _ at: (_ line: Int, _ place: Int) -> Int) -> Double {
      var (kept, all) = (0.0, 0.0)
      for line in 0..<lines {
        func mean(_ place: Int) -> Double {
          Double((place - 7...place + 7).reduce(0) { $0 + at(line, $1) }) / 15
        }
        for place in 7..<count - 8 {
          let own = Double(abs(at(line, place + 1) - at(line, place)))
          kept += min(own, abs(mean(place + 1) - mean(place)))
          all += own
        }
      }
      return kept / all
    }
    return max(
      direction(width, height) { Int(gray[$0 * width + $1]) },
      direction(height, width) { Int(gray[$1 * width + $0]) })
  }

  @Test("It is what its definition says", arguments: [(1, 1), (9, 1), (1, 20), (6, 6)])
  func definition(across: Int, down: Int) throws {
    let gray = Self.tiles(across: across, down: down)
    #expect(abs(try Self.effect(gray) - Self.slow(gray)) < 1e-9)
  }

  @Test("It grows with the length of a smear, in either direction, from sharp to nearly 1")
  func length() throws {
    for isDown in [false, true] {
      let values = try [1, 4, 8, 12, 20].map {
        try Self.effect(Self.tiles(across: isDown ? 1 : $0, down: isDown ? $0 : 1))
      }
      #expect(values == values.sorted())
      #expect(values[0] < 0.1)
      #expect(values[4] > 0.7)
    }
  }

  @Test("Contrast does not matter")
  func contrast() throws {
    let gray = Self.tiles(across: 7)
    let faint = gray.map { UInt8(100 + Int($0) / 4) }
    #expect(abs(try Self.effect(gray) - Self.effect(faint)) < 0.05)
  }

  @Test(
    "Nothing is known of an even picture, of one that is too small, and of bytes of another size")
  func unknown() {
    #expect(BlurEffect(gray: [UInt8](repeating: 7, count: 40 * 40), width: 40, height: 40) == nil)
    #expect(BlurEffect(gray: (0..<15 * 40).map { UInt8($0 % 200) }, width: 15, height: 40) == nil)
    #expect(BlurEffect(gray: (0..<15 * 40).map { UInt8($0 % 200) }, width: 40, height: 15) == nil)
    #expect(BlurEffect(gray: [1, 2, 3], width: 40, height: 40) == nil)
    #expect(BlurEffect(gray: (0..<256).map { UInt8($0) }, width: 16, height: 16) != nil)
  }
}
