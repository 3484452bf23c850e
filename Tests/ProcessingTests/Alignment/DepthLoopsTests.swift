import CPlatform
import TestSupport
import Testing

@Suite("The loops of aligned depth, with wide vectors and without")
struct DepthLoopsTests {
  @Test("Every depth keeps its millimeters; halves round up, no value and out of range give none")
  func millimeters() {
    var inverses: [Float] = [0, 1 / 65535.75, 1e-30, .infinity, 3]
    var expected: [UInt16] = [0, 0, 0, 0, 0]
    for millimeters in 1...UInt16.max {
      inverses.append(1 / Float(millimeters))
      expected.append(millimeters)
    }
    for millimeters in UInt16(1)...4096 {
      inverses.append(1 / (Float(millimeters) - 0.5))
      inverses.append(1 / (Float(millimeters) - 0.51))
      expected += [millimeters, millimeters - 1]
    }
    for isWide in [false, scanmill_gray_has_wide()] {
      var result = [UInt16](repeating: 1, count: inverses.count + 1)
      scanmill_millimeters(isWide, inverses, Int64(inverses.count), &result)
      #expect(result == expected + [1])
    }
  }

  @Test(
    "Quads give the same pixels with both, and none outside their columns and the picture's rows")
  func quads() {
    var random = SeededGenerator(seed: 46)
    let (width, rows, stride) = (40, 30, 48)
    for _ in 0..<200 {
      var quads = (0..<76).map { _ in Float.random(in: -2...2, using: &random) }
      for value in 48..<76 { quads[value] = abs(quads[value]) }
      let corners = (0..<8).map { _ in Float(Int.random(in: -9...40, using: &random)) }
      let sizes = (0..<8).map { _ in Float.random(in: 0...20, using: &random) }
      let boxes = corners + zip(corners, sizes).map { $0 + $1 }
      let before = (0..<stride * (rows + 4)).map { _ in Float.random(in: 0...1, using: &random) }
      var drawn: [[Float]] = []
      for isWide in [false, scanmill_gray_has_wide()] {
        var picture = before
        picture.withUnsafeMutableBufferPointer { picture in
          var target = scanmill_target(
            origin: picture.baseAddress.map { $0 + 2 * stride + 2 }, stride: Int64(stride),
            width: Int64(width), first_row: 4, end_row: Int64(4 + rows))
          scanmill_draw_quads(isWide, quads, boxes, &target)
        }
        drawn.append(picture)
      }
      #expect(drawn[0] == drawn[1])
      for (place, value) in drawn[0].enumerated() where value != before[place] {
        let (row, column) = (place / stride + 2, Float(place % stride - 2))
        #expect(value > before[place] && (4..<4 + rows).contains(row))
        #expect(
          (0..<4).contains { lane in
            boxes[lane] <= column && column <= boxes[8 + lane] + 3
              && Float(row) >= boxes[4 + lane] && Float(row) <= boxes[12 + lane]
          })
      }
    }
  }
}
