/// How far the distances of a structured-light sensor are from the truth, by pixel and distance: the table
/// of a laboratory, estimated on a large flat wall.
///
/// The picture is divided into cells and the range into slices; a value is measured / true distance.
/// Between the centers of cells values are interpolated linearly along all three axes.
public struct DepthDistortionTable: Hashable, Sendable {
  /// Cells across, down, and along the distance; 1…4096 each.
  public let columns: Int
  public let rows: Int
  let slices: Int
  /// Distance of the end of the last slice, meters, above 0.
  let maximumDistance: Float
  /// Index `slice · columns · rows + row · columns + column`; NaN for a cell that corrects nothing.
  private let values: [Float]

  /// Values that a cell may have. Others, and the mark -321 of an unknown cell, correct nothing.
  static let possible: ClosedRange<Float> = 0.5...2
  /// Most cells along an axis.
  public static let mostCells = 4096

  /// `nil` unless there is one value for each cell and the sizes and the distance are possible.
  public init?(columns: Int, rows: Int, slices: Int, maximumDistance: Float, values: [Float]) {
    let cells = 1...Self.mostCells
    guard cells.contains(columns), cells.contains(rows), cells.contains(slices),
      maximumDistance > 0, maximumDistance.isFinite, values.count == columns * rows * slices
    else { return nil }
    (self.columns, self.rows, self.slices) = (columns, rows, slices)
    self.maximumDistance = maximumDistance
    self.values = values.map { Self.possible.contains($0) ? $0 : .nan }
  }

  /// Number of cells that correct nothing.
  var unknownCells: Int { values.count(where: \.isNaN) }

  /// Whether every cell has a pixel of a picture of this size.
  public func fits(width: Int, height: Int) -> Bool { width >= columns && height >= rows }

  /// Two neighbors along an axis and the weight of the second; equal neighbors have weight 0.
  private struct Neighbors {
    var first: Int
    var second: Int
    var weight: Double

    init(_ position: Double, _ count: Int) {
      let clamped = min(max(position, 0), Double(count - 1))
      first = Int(clamped)
      weight = clamped - Double(first)
      second = weight > 0 ? min(first + 1, count - 1) : first
    }
  }

  /// Corrects a picture of `width` × `height` millimeters in place, rounded to nearest; 0 stays 0.
  ///
  /// A pixel is lost, and becomes 0, if any cell with a weight above 0 corrects nothing. Nothing is
  /// changed where the table does not fit the picture. Cost: some 15 ns for each measured pixel.
  ///
  /// - Returns: the number of pixels lost.
  public func correct(_ millimeters: inout [UInt16], width: Int, height: Int) -> Int {
    guard fits(width: width, height: height), millimeters.count == width * height else { return 0 }
    // Whole pixels, as in the reference; what is left over at the right and lower border has the values
    // of the last cells.
    let across = (0..<width).map { Neighbors(Double($0) / Double(width / columns), columns) }
    let down = (0..<height).map { Neighbors(Double($0) / Double(height / rows), rows) }
    let maximumMillimeters = Double(maximumDistance) * 1000
    let layer = columns * rows
    var lost = 0
    millimeters.withUnsafeMutableBufferPointer { pixels in
      values.withUnsafeBufferPointer { values in
        across.withUnsafeBufferPointer { across in
          var index = 0
          for y in down {
            let (upper, lower) = (y.first * columns, y.second * columns)
            for x in across {
              defer { index += 1 }
              let measured = pixels[index]
              if measured == 0 { continue }
              let z = Neighbors(Double(Int(measured) * slices) / maximumMillimeters, slices)
              func line(_ start: Int) -> Double {
                Self.mix(
                  Double(values[start + x.first]), Double(values[start + x.second]), x.weight)
              }
              func plane(_ slice: Int) -> Double {
                let base = slice * layer
                return Self.mix(line(base + upper), line(base + lower), y.weight)
              }
              let value = Self.mix(plane(z.first), plane(z.second), z.weight)
              let corrected = (Double(measured) / value).rounded()
              // Not a number: a cell corrects nothing.
              if corrected >= 0 && corrected <= 65_535 {
                pixels[index] = UInt16(corrected)
              } else {
                pixels[index] = 0
              }
              if pixels[index] == 0 { lost += 1 }
            }
          }
        }
      }
    }
    return lost
  }

  /// `a` alone where `b` has no weight, so that a cell without weight decides nothing.
  private static func mix(
    _ a: Double, _ b: @autoclosure () -> Double, _ weight: Double
  ) -> Double {
    weight == 0 ? a : a + weight * (b() - a)
  }
}
