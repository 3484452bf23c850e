@testable import Core
import TestSupport
import Testing

@Suite("Distances corrected by a laboratory's table")
struct DepthDistortionTableTests {
  private static func table(
    _ columns: Int, _ rows: Int, _ slices: Int, _ distance: Float,
    _ value: (Int, Int, Int) -> Float
  ) throws -> DepthDistortionTable {
    var values: [Float] = []
    for z in 0..<slices {
      for y in 0..<rows { for x in 0..<columns { values.append(value(x, y, z)) } }
    }
    return try #require(
      DepthDistortionTable(
        columns: columns, rows: rows, slices: slices, maximumDistance: distance, values: values))
  }

  /// The page in double precision, by its eight neighbors.
  private static func corrected(
    _ millimeters: UInt16, _ i: Int, _ j: Int, _ size: (Int, Int), _ cells: (Int, Int, Int),
    _ distance: Double, _ value: (Int, Int, Int) -> Float
  ) -> Double {
    func axis(_ position: Double, _ count: Int) -> [(Int, Double)] {
      let clamped = min(position, Double(count - 1))
      let first = Int(clamped)
      return [
        (first, 1 - clamped + Double(first)), (min(first + 1, count - 1), clamped - Double(first)),
      ]
    }
    let z = Double(millimeters) / 1000 * Double(cells.2) / distance
    var sum = 0.0
    for (x, a) in axis(Double(i) / Double(size.0 / cells.0), cells.0) {
      for (y, b) in axis(Double(j) / Double(size.1 / cells.1), cells.1) {
        for (s, c) in axis(z, cells.2) { sum += a * b * c * Double(value(x, y, s)) }
      }
    }
    return Double(millimeters) / sum
  }

  @Test(
    "A distance is divided by the value between the eight cells around it, also where cells do not divide the picture",
    arguments: [(12, 9), (13, 11), (4, 3)])
  func values(_ width: Int, _ height: Int) throws {
    func value(_ x: Int, _ y: Int, _ z: Int) -> Float {
      1 + 0.01 * Float(x) - 0.02 * Float(y) + 0.03 * Float(z) + 0.004 * Float(x * z)
    }
    let table = try Self.table(4, 3, 5, 5, value)
    var random = SeededGenerator(seed: 8)
    let depth = (0..<(width * height)).map { index in
      index % 7 == 0 ? UInt16(0) : UInt16.random(in: 1...9000, using: &random)
    }
    var found = depth
    #expect(table.correct(&found, width: width, height: height) == 0)
    for index in depth.indices {
      guard depth[index] != 0 else {
        #expect(found[index] == 0)
        continue
      }
      let wanted = Self.corrected(
        depth[index], index % width, index / width, (width, height), (4, 3, 5), 5, value)
      #expect(Double(found[index]) == wanted.rounded())
    }
  }

  @Test(
    "A pixel near a cell without possible value is lost and counted, others are not",
    arguments: [Float.nan, .infinity, 0, -1, -321, 0.49, 2.01])
  func unknown(_ odd: Float) throws {
    let table = try Self.table(3, 1, 1, 5) { x, _, _ in x == 2 ? odd : 1.25 }
    #expect(table.unknownCells == 1)
    var depth = [UInt16](repeating: 1000, count: 6)
    depth[5] = 0
    // Cells of two pixels: 0 and 1 lie at cells 0 and 0.5, 2 at 1; 3 at 1.5 touches cell 2.
    #expect(table.correct(&depth, width: 6, height: 1) == 2)
    #expect(depth == [800, 800, 800, 0, 0, 0])
  }

  /// A sensor that bends walls: measured / true distance by pixel and measured distance.
  private static func bend(_ i: Double, _ j: Double, _ meters: Double) -> Double {
    let (x, y) = ((i - 80) / 80, (j - 60) / 60)
    return 1 + meters / 5 * (0.02 * x * x - 0.015 * y * y + 0.01 * x) + 0.004 * meters / 5
  }

  @Test(
    "A flat wall that the sensor bends is flat to 1 mm after the correction",
    arguments: [600, 1500, 2500, 4000])
  func wall(_ distance: Double) throws {
    let (width, height, slices) = (160, 120, 25)
    // Cells of 2 pixels; the value of a cell is that at its first pixel and the start of its slice.
    let table = try Self.table(80, 60, slices, 5) { x, y, z in
      Float(Self.bend(Double(2 * x), Double(2 * y), Double(z) * 5 / Double(slices)))
    }
    var depth: [UInt16] = []
    for j in 0..<height {
      for i in 0..<width {
        var measured = distance
        for _ in 0..<20 { measured = distance * Self.bend(Double(i), Double(j), measured / 1000) }
        depth.append(UInt16(measured.rounded()))
      }
    }
    let bent = depth.map { abs(Double($0) - distance) }.max() ?? 0
    #expect(bent > (distance > 2000 ? 20 : 1), "the wall is bent: \(bent) mm")
    #expect(table.correct(&depth, width: width, height: height) == 0)
    // The last pixel of the picture lies beyond the last cell.
    for index in depth.indices where index % width < width - 1 && index / width < height - 1 {
      #expect(abs(Double(depth[index]) - distance) <= 1)
    }
  }

  @Test("Nothing is changed where a table does not fit, and impossible tables are none")
  func impossible() throws {
    let table = try Self.table(4, 1, 1, 5) { _, _, _ in 2 }
    var depth: [UInt16] = [10, 20, 30]
    #expect(!table.fits(width: 3, height: 1) && table.correct(&depth, width: 3, height: 1) == 0)
    #expect(depth == [10, 20, 30])
    var far: [UInt16] = [60_000]
    let half = try Self.table(1, 1, 1, 5) { _, _, _ in 0.5 }
    #expect(
      half.correct(&far, width: 1, height: 1) == 1 && far == [0], "above 65,535 there is no value")
    for (columns, rows, slices, distance, count) in [
      (0, 1, 1, 5, 0), (1, 1, 1, 0, 1), (1, 1, 1, -1, 1), (1, 1, 1, Float.nan, 1), (2, 1, 1, 5, 1),
      (4097, 1, 1, 5, 4097),
    ] as [(Int, Int, Int, Float, Int)] {
      #expect(
        DepthDistortionTable(
          columns: columns, rows: rows, slices: slices, maximumDistance: distance,
          values: [Float](repeating: 1, count: count)) == nil)
    }
  }
}
