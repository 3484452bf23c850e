@testable import Media
@testable import Core
import TestSupport
import Testing

@Suite("PNG files of 16-bit values: filters by row, runs at any place")
struct PNGDepthTests {
  @Test(
    "Aligned depth comes back, whatever its zoom and noise", arguments: [1, 2, 3, 8], [0, 1, 5, 60])
  func comesBack(zoom: Int, noise: Int) throws {
    // One writer for all: nothing of an earlier picture may show.
    var writer = PNGWriter()
    for (width, height) in [(9, 5), (13, 40), (67, 31), (256, 192), (517, 300), (1296, 400)] {
      let depth = ZoomedDepth(zoom: zoom, noise: noise).picture(
        width: width, height: height)
      let file = try writer.encode(depth)
      #expect(try PNGReader.depth(in: file) == depth, "\(width)x\(height)")
      var fresh = PNGWriter()
      #expect(try fresh.encode(depth) == file, "\(width)x\(height)")
    }
  }

  @Test(
    "compact comes back and is never larger than fast", arguments: [1, 2, 8], [0, 1, 60])
  func compact(zoom: Int, noise: Int) throws {
    var (compact, fast) = (PNGWriter(compression: .compact), PNGWriter(compression: .fast))
    for (width, height) in [(9, 5), (67, 31), (256, 192), (517, 130)] {
      let depth = ZoomedDepth(zoom: zoom, noise: noise).picture(
        width: width, height: height)
      let file = try compact.encode(depth)
      #expect(try PNGReader.depth(in: file) == depth, "\(width)x\(height)")
      #expect(try file.count <= fast.encode(depth).count, "\(width)x\(height)")
    }
  }

  @Test("Rows that repeat the one above cost a bit of the first")
  func repeatedRows() throws {
    var random = SeededGenerator(seed: 4)
    let rows = (0..<20).map { _ in
      (0..<640).map { _ in UInt16.random(in: 2000..<2040, using: &random) }
    }
    func size(times: Int) throws -> Int {
      let values = rows.flatMap { row in (0..<times).flatMap { _ in row } }
      var writer = PNGWriter()
      return try writer.encode(gray16: values, width: 640, height: 20 * times).count
    }
    #expect(try Double(size(times: 8)) < 1.1 * Double(size(times: 1)))
  }

  @Test("Runs of every short length, at even and odd places, between other values, come back")
  func shortRuns() throws {
    var writer = PNGWriter()
    for seed in UInt64(0)..<40 {
      var random = SeededGenerator(seed: seed)
      var values: [UInt16] = []
      // Differences that repeat are runs after prediction; a high byte that stays makes runs of odd length.
      var value = 3000
      while values.count < 300 * 20 {
        let step = Int.random(in: -3...3, using: &random) * (seed % 3 == 0 ? 256 : 1)
        for _ in 0..<Int.random(in: 1...9, using: &random) {
          value = min(max(value + step, 0), 65_535)
          values.append(UInt16(value))
        }
      }
      let depth = DepthImage(width: 300, height: 20, millimeters: Array(values[..<6000]))
      #expect(try PNGReader.depth(in: writer.encode(depth)) == depth, "seed \(seed)")
    }
  }
}
