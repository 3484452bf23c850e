@testable import Core
@testable import Processing
import Testing

@Suite("Outlines and contours of depth")
struct DepthLinesTests {
  /// Columns of a one-row picture that are outlines.
  private func outlines(_ row: [UInt16]) -> [Int] {
    let depth = DepthImage(width: row.count, height: 1, millimeters: row)
    let found = DepthEdges.find(in: depth)
    return row.indices.filter { found[$0] }
  }

  @Test("An outline lies on the nearer surface, also across what it hides; other holes have none")
  func edges() {
    #expect(outlines([1000, 1000, 3000, 3000]) == [1])
    #expect(outlines([3000, 3000, 1000, 1000]) == [2])
    #expect(outlines([1000, 1000, 0, 0, 3000]) == [1])
    #expect(outlines([1000, 1000, 0, 0, 1005, 0]) == [])
    #expect(outlines([0, 0, 1000, 0]) == [])
    // Ten millimeters and five percent are no jump.
    #expect(outlines([1000, 1060]) == [])
    #expect(outlines([1000, 1061]) == [0])
    // Too far apart to say that one hides the other.
    #expect(outlines([1000] + Array(repeating: 0, count: 40) + [3000]) == [])
  }

  @Test("The same from above and below as from left and right")
  func transposed() {
    let depth = DepthImage(width: 1, height: 4, millimeters: [1000, 0, 3000, 3000])
    #expect(DepthEdges.find(in: depth) == [true, false, false, false])
  }

  @Test("A smooth slope has a contour at every step, of one pixel, and none where it jumps")
  func contours() {
    // 10 mm a pixel: a multiple of 100 mm every ten pixels.
    let slope = (0..<60).map { UInt16(1000 + 10 * $0) }
    let depth = DepthImage(width: 60, height: 1, millimeters: slope)
    let found = DepthContours.find(in: depth, step: 100, reach: 0)
    #expect((0..<60).filter { found[$0] } == [9, 19, 29, 39, 49])
    let wall = DepthImage(width: 4, height: 1, millimeters: [1050, 1050, 2050, 2050])
    #expect(!DepthContours.find(in: wall, step: 100, reach: 0).contains(true))
    let flat = DepthImage(
      width: 30, height: 30, millimeters: Array(repeating: 1234, count: 900))
    #expect(!DepthContours.find(in: flat, step: 100, reach: 3).contains(true))
  }

  @Test(
    "Noise makes no thicket: a contour of a noisy slope is about as long as the picture is high")
  func noise() {
    let (width, height) = (120, 90)
    var depth = DepthImage(width: width, height: height)
    for y in 0..<height {
      for x in 0..<width {
        // Up to 6 mm to either side, without a pattern: the low bits of a square.
        let noise = (x * x * 7 + y * y * 13 + x * y * 5) % 13 - 6
        depth.millimeters[y * width + x] = UInt16(1005 + 2 * x + noise)
      }
    }
    let rough = DepthContours.find(in: depth, step: 100, reach: 0).count { $0 }
    let smooth = DepthContours.find(in: depth, step: 100, reach: 4).count { $0 }
    #expect(rough > 6 * height)
    #expect((height..<5 * height).contains(smooth), "\(smooth)")
  }
}
